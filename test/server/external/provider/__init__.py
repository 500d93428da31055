"""An inference provider for tests. It answers every chat with a text from its dependency and its configuration."""

import time

import acme_words
from pydantic import BaseModel

try:
    import ogx_api as api
except ModuleNotFoundError:
    try:
        import llama_stack_api as api
    except ModuleNotFoundError:
        import llama_stack.apis.inference as api


class EchoConfig(BaseModel):
    greeting: str
    token: str = ""


class Echo:
    def __init__(self, config):
        self.config = config
        self.model_store = None

    async def initialize(self):
        pass

    async def shutdown(self):
        pass

    async def register_model(self, model):
        return model

    async def unregister_model(self, model_id):
        pass

    async def list_models(self):
        return None

    async def should_refresh_models(self):
        return False

    async def rerank(self, *arguments, model=None, query=None, items=None, max_num_results=None, request=None):
        raise NotImplementedError

    async def openai_completion(self, params):
        raise NotImplementedError

    async def openai_embeddings(self, params):
        raise NotImplementedError

    async def openai_chat_completion(self, params):
        text = f"{self.config.greeting} {acme_words.WORD}, {len(self.config.token)} characters of token"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return api.OpenAIChatCompletion.model_validate(
            {"id": "echo-1", "object": "chat.completion", "created": int(time.time()), "model": params.model, "choices": [choice]})


async def get_adapter_impl(config, deps):
    return Echo(config)
