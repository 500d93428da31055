"""The specification of the provider, which the server imports first."""

try:
    from ogx_api import Api, RemoteProviderSpec
except ModuleNotFoundError:
    try:
        from llama_stack_api import Api, RemoteProviderSpec
    except ModuleNotFoundError:
        from llama_stack.providers.datatypes import Api, RemoteProviderSpec


def get_provider_spec():
    return RemoteProviderSpec(
        api=Api.inference, provider_type="remote::acme-echo", adapter_type="acme-echo",
        config_class="acme.echo.EchoConfig", module="acme.echo", pip_packages=[])
