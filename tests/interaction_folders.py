"""Small folders of interactions, one in each format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KGAT = {
    "train.txt": "0 0 1 2\n1 1\n2\n",
    "test.txt": "0 3\n1 0 2\n",
    "kg_final.txt": "0 0 4\n1 0 4\n3 1 5\n",
    "item_list.txt": "org_id remap_id freebase_id\ntea 0 m.0\nrice 1 m.1\nsalt 2 m.2\nmint 3 m.3\n",
    "user_list.txt": "org_id remap_id\nann 0\nbob 1\ncid 2\n",
    "entity_list.txt": "org_id remap_id\nm.0 0\nm.1 1\nm.2 2\nm.3 3\nfood 4\nherb 5\n",
    "relation_list.txt": "org_id remap_id\nis 0\nkind 1\n",
}
RECBOLE = {
    "shop.inter": (
        "timestamp:float\tuser_id:token\trating:float\titem_id:token\tmood:token\n"
        "30\tann\t5\ttea\tgood\n10\tbob\t3.5\ttea\tbad\n20\tann\t1\trice\tso so\n"
    ),
    "shop.kg": "head_id:token\trelation_id:token\ttail_id:token\nm.1\tis\tfood\nm.9\tis\tfood\n",
    "shop.link": "item_id:token\tentity_id:token\nrice\tm.1\n",
}
KGCN = {
    "user_artists.dat": "userID\tartistID\tweight\n7\t51\t13\n7\t52\t5\n9\t99\t1\n8\t52\t2\n",
    "kg.txt": "1\torigin\t2\n0\torigin\t2\n2\tpart of\t3\n",
    "item_index2entity_id.txt": "52\t0\n51\t1\n",
}


def put(folder: Path, files: Mapping[str, str | bytes | None]) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        if text is not None:
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return folder
