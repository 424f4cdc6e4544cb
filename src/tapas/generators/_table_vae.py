"""A variational autoencoder of tables."""

from tapas.generators._deep_generator import DeepGenerator


class TableVAE(DeepGenerator):
    """Squeezes records through a few normal variables, and decodes new draws of these.

    A variational autoencoder of mixed columns, of the family of TVAE. Columns enter and leave as
    in `TableDiffusion`, which also explains the parameters.

    References
    ----------
    Xu, Skoularidou, Cuesta-Infante, Veeramachaneni (2019), "Modeling tabular data using
    conditional GAN" (TVAE); Kingma, Welling (2014), "Auto-encoding variational Bayes".
    """

    @staticmethod
    def _kind() -> type:
        from tapas.generators._variational_networks import VariationalNetworks

        return VariationalNetworks
