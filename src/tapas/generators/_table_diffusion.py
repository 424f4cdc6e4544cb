"""A diffusion model of tables."""

from tapas.generators._deep_generator import DeepGenerator


class TableDiffusion(DeepGenerator):
    """Learns to take noise off records, and makes new ones out of noise alone.

    A diffusion model of mixed columns, of the family of TabDDPM and TabSyn. Numbers enter by their
    normal scores and leave by the quantiles of the data; categories as marks, missing among them.
    Like its family it remembers records where it is trained for long on few.

    Parameters
    ----------
    hidden : tuple of int
        Units of each hidden layer.
    steps : int
        Training steps.
    batch_size : int
        Records a step, drawn with replacement.
    learning_rate : float
        Of AdamW.
    device : str
        "cpu", "cuda", "cuda:1"...; "auto" is the GPU where there is one, else "cpu".
    fits_at_once : int, optional
        How many tables are learnt in lockstep; by default 1 on a CPU and 128 on a GPU.

    References
    ----------
    Kotelnikov, Baranchuk, Rubachev, Babenko (2023), "TabDDPM"; Karras, Aittala, Aila, Laine
    (2022), "Elucidating the design space of diffusion-based generative models"; Dieleman et al.
    (2022), "Continuous diffusion for categorical data".
    """

    @staticmethod
    def _kind() -> type:
        from tapas.generators._diffusion_networks import DiffusionNetworks

        return DiffusionNetworks
