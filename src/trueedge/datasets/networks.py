"""Networks of the degree-bias paper: the largest component of each, as a plain list of edges."""

from __future__ import annotations

from functools import partial

from trueedge.datasets.dataset import Dataset, Rules, SourceFile, register
from trueedge.datasets.sources import locate
from trueedge.graph import Graph

# Name, nodes, edges, what they are, SHA-256 of the file.
_NETWORKS = (
    (
        "American75",
        6370,
        217654,
        "Facebook users at American University in 2005; an edge is a friendship",
        "6b70688b5ec292727725a84d2267b8d62246797e44e1512654be484c31ef5b51",
    ),
    (
        "Amherst41",
        2235,
        90954,
        "Facebook users at Amherst College in 2005; an edge is a friendship",
        "95799d90ab27578be52db97db809deb83e40c5097a98b67b58b8f17aaa4ee7a1",
    ),
    (
        "as-caida20071105",
        26475,
        53381,
        "autonomous systems of the Internet; an edge is traffic between them",
        "6b5d3c9e12717410a035e9088f733eedde9530eda1a365df5277aa36cb37bf7e",
    ),
    (
        "ca-GrQc",
        4158,
        13422,
        "authors on general relativity; an edge is a joint paper",
        "2f7c2202e662a55da2a0cfc2fd765fbe3090743eb900649155ed82512c0ffb7f",
    ),
    (
        "ca-HepPh",
        11204,
        117619,
        "authors on high energy physics; an edge is a joint paper",
        "2671ef72b450f515feeee63266b8915953cf55878da6677a526c984d779ccb02",
    ),
    (
        "dblp-cite",
        12495,
        49563,
        "computer science papers of DBLP; an edge is a citation",
        "2f880b8ddb7c19b99e8771348aceeade00ebe8390b2acc3c1e103cb04d5d72b4",
    ),
    (
        "foodweb-baydry",
        128,
        2106,
        "species of Florida Bay in the dry season; an edge is who eats whom",
        "b9a2b79d9c1b42fd5ca6c6fcfe09468353c67173ef57ad74508a1a8eb43b3bcd",
    ),
    (
        "JohnsHopkins55",
        5157,
        186572,
        "Facebook users at Johns Hopkins University in 2005; an edge is a friendship",
        "05b8b65e078b93fb6698c4f029b62f8304849d2e875528ad0add579db0942dde",
    ),
    (
        "maayan-foodweb",
        183,
        2434,
        "species of Little Rock Lake; an edge is who eats whom",
        "f3d2522e17e180aa5eb7d29542e02c7f95fdea89104e27b8a82b0b7d294df67f",
    ),
    (
        "Middlebury45",
        3069,
        124607,
        "Facebook users at Middlebury College in 2005; an edge is a friendship",
        "4166450e21c4c42c7b7cb773e98b574a67d3ae7c53ab7a74db4d66b116df3a87",
    ),
    (
        "netscience",
        379,
        914,
        "authors on networks; an edge is a joint paper",
        "0da2b951d5f536e4083fe21a2c05091028c8bd5afe7af8921380c3c839dccabf",
    ),
    (
        "opsahl-openflights",
        2905,
        15645,
        "airports; an edge is a flight",
        "6c0d2ef781d3864507ae6a136795a846e578977d5795fbee6962f7e5c922371d",
    ),
    (
        "opsahl-ucsocial",
        1893,
        13835,
        "students of UC Irvine; an edge is a message",
        "ae0b43d07b2590c6220d0798e1b2f330fa18ca04d9e029cb70a1430e043c0ef0",
    ),
    (
        "p2p-Gnutella04",
        10876,
        39994,
        "Gnutella hosts on 2002-08-04; an edge is a connection",
        "a13729624f211b5dcee0cfdeeb690dfd44b217ecf563e17434dda5a352fb93d4",
    ),
    (
        "p2p-Gnutella05",
        8842,
        31837,
        "Gnutella hosts on 2002-08-05; an edge is a connection",
        "d50f9218912813a62d31a5ee03117df50a08d7a6b475ea197f2148da58641861",
    ),
    (
        "p2p-Gnutella08",
        6299,
        20776,
        "Gnutella hosts on 2002-08-08; an edge is a connection",
        "7c3902fe2b0aa30ba54155c2098ef24262823916eff3d643d60651770ae23de5",
    ),
    (
        "p2p-Gnutella09",
        8104,
        26008,
        "Gnutella hosts on 2002-08-09; an edge is a connection",
        "53d91bacd9995594b72a19e1caa16490efecf5ddb83d48a57c8cbc2a629fed40",
    ),
    (
        "p2p-Gnutella24",
        26498,
        65359,
        "Gnutella hosts on 2002-08-24; an edge is a connection",
        "3c69d8cef55a48e5e92f6b67c2ce0e21feb331dfa5e8897ff0a757d129a276ce",
    ),
    (
        "p2p-Gnutella25",
        22663,
        54693,
        "Gnutella hosts on 2002-08-25; an edge is a connection",
        "ca5c24afe7a19d6509703b6795894cae890ac5fb1a032b73ab263393121a9873",
    ),
    (
        "Pepperdine86",
        3440,
        152003,
        "Facebook users at Pepperdine University in 2005; an edge is a friendship",
        "450187a9d65335fe04cfc17f0dd7e39e6c38d7b1e78aedb9f3b89ec33d1f5071",
    ),
    (
        "PGPgiantcompo",
        10680,
        24316,
        "users of PGP; an edge is a signed key",
        "c19d9d960e0f037b36a731c073aed5baaf748b1f24d1b1200d4bc0cb82ff1c66",
    ),
    (
        "polblogs-rachith",
        1222,
        16714,
        "blogs on US politics in 2004; an edge is a link",
        "30671e747cbee86ccf4ca8b81f79308c9aea501d0249561a489333e07cc0085e",
    ),
    (
        "polbooks",
        105,
        441,
        "books on US politics; an edge is a shared buyer",
        "b964d01d1a9528cc74e71a9c0af338fb2efd802ce36244bb948d5a3bda0463f3",
    ),
    (
        "sociopatterns-infectious",
        410,
        2765,
        "visitors of an exhibition; an edge is a meeting face to face",
        "9c4c936b48502abf1dbcec622856ca69385551aa119ec3b598d7d78304da36b4",
    ),
    (
        "subelj-cora-cora",
        23166,
        89157,
        "computer science papers of the full Cora; an edge is a citation",
        "cc3077984beeba7d501b2c541c4442fbd4901ba163c6a2917058853d2e2d1d8a",
    ),
    (
        "Swarthmore42",
        1657,
        61049,
        "Facebook users at Swarthmore College in 2005; an edge is a friendship",
        "85ce1913db3ad3cb83dfb1d954092ae7f8245d039eb82d72e6024a5b4072437f",
    ),
    (
        "Wesleyan43",
        3591,
        138034,
        "Facebook users at Wesleyan University in 2005; an edge is a friendship",
        "2d60d24fb85bb0f7b879511406e2e36c07f3aace66193eb067d59e01a91b1bbf",
    ),
    (
        "wiki-Vote",
        7066,
        100736,
        "Wikipedia users; an edge is a vote on an administrator",
        "b8710fdb61a986b6ff7a8a83d9477cd628159c51d9707ecb5a98f2a762d346dd",
    ),
)


def read(name: str, num_nodes: int) -> Graph:
    """Read ``networks/<name>.edges.gz``: two node ids a line, each edge once.

    Args:
        name: the network.
        num_nodes: how many nodes it has.
    """
    return Graph.from_edges(locate(_file(name), name), num_nodes, name=name)


def _file(name: str, checksum: str | None = None) -> SourceFile:
    why = "these networks have no official address of their own"
    return SourceFile(f"networks/{name}.edges.gz", sha256=checksum, note=why)


for _name, _nodes, _edges, _title, _checksum in _NETWORKS:
    register(
        Dataset(
            name=_name,
            family="networks",
            title=_title,
            num_nodes=_nodes,
            num_edges=_edges,
            num_features=0,
            licence="not stated; see the collections the paper names",
            source="https://github.com/skojaku/degree-corrected-link-prediction-benchmark",
            citation="Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025",
            read=partial(read, _name, _nodes),
            files=(_file(_name, _checksum),),
            rules=Rules(heart_features=False),
        )
    )
