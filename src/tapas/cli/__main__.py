"""``python -m tapas.cli``"""

from tapas.cli import main

main()
