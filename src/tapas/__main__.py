"""``python -m tapas``"""

from tapas.cli import main

main()
