"""Open the sockets of a server before it says that it serves."""

from __future__ import annotations

import errno
import socket

from trueedge.errors import InputError

BACKLOG = 2048
# Of a name with several addresses, those of a protocol that the machine does not have are left out.
ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def listen(host: str, port: int) -> list[socket.socket]:
    """Return listening sockets at all addresses of a host, or raise an InputError that says why not.

    Args:
        host: a name or an address of this machine.
        port: the port.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{host} is no address to listen at: {reason}") from None
    opened: list[socket.socket] = []
    absent: OSError | None = None
    for family, kind, protocol, _, address in dict.fromkeys(found):
        try:
            opened.append(_listening(family, kind, protocol, address))
        except OSError as error:
            if error.errno in ABSENT:
                absent = error
                continue
            for one in opened:
                one.close()
            raise _refused(host, port, error) from None
    if not opened and absent is not None:
        raise _refused(host, port, absent)
    return opened


def _listening(family: int, kind: int, protocol: int, address: tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def _refused(host: str, port: int, error: OSError) -> InputError:
    if error.errno == errno.EADDRINUSE:
        return InputError(f"another program listens at {host}:{port}: choose another port with --port")
    return InputError(f"{host}:{port} cannot be listened at: {error.strerror or error}")
