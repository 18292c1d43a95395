"""Reading manifests, dumps and descriptions of nodes into the model's objects."""

from reconverge.loading.accounting import Accounting, UnsupportedField
from reconverge.loading.document import Document
from reconverge.loading.errors import LoadError, Note, nearest
from reconverge.loading.fields import Fields
from reconverge.loading.kinds import makes_pods
from reconverge.loading.load import Loaded, decode, load, load_documents, load_text, parse_document_text
from reconverge.loading.pool_sources import described_pools
from reconverge.loading.pools import NodePool, node_pool, parse_nodes, parse_pools, pool_document

__all__ = [
    "Accounting",
    "Document",
    "Fields",
    "LoadError",
    "Loaded",
    "NodePool",
    "Note",
    "UnsupportedField",
    "decode",
    "described_pools",
    "load",
    "load_documents",
    "load_text",
    "makes_pods",
    "nearest",
    "node_pool",
    "parse_document_text",
    "parse_nodes",
    "parse_pools",
    "pool_document",
]
