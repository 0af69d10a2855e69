# The server of a leaderboard: docker compose up, or
#   docker build -t trueedge . && docker run -p 8000:8000 -v ./board:/board trueedge
FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 NUMBA_CACHE_DIR=/tmp/numba
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --disable-pip-version-check -c constraints.txt '.[postgres]' \
    && useradd --create-home --uid 1000 trueedge \
    && mkdir /board && chown trueedge /board
USER trueedge
VOLUME /board
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["trueedge"]
CMD ["serve", "/board", "--host", "0.0.0.0", "--port", "8000"]
