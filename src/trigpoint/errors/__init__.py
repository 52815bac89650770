"""One tree of errors. Each is imported from here: `from trigpoint.errors import InvalidInput`; the modules are its branches, by domain."""

from trigpoint.errors.documents import *
from trigpoint.errors.graph import *
from trigpoint.errors.http import *
from trigpoint.errors.library import *
from trigpoint.errors.mcp import *
from trigpoint.errors.policies import *
from trigpoint.errors.registers import *
from trigpoint.errors.reviews import *
from trigpoint.errors.root import *
from trigpoint.errors.stores import *
