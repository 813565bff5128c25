"""llama.cpp's own HTTP server with one model, on 127.0.0.1: llama.py PORT MODEL.gguf"""

import signal
import sys

import xllamacpp

port, model = int(sys.argv[1]), sys.argv[2]
settings = xllamacpp.CommonParams()
settings.model.path = model
settings.model_alias = {"smollm2"}
settings.hostnames = ["127.0.0.1"]
settings.port = port
settings.n_ctx = 4096
settings.cpuparams.n_threads = 2
settings.use_jinja = True
server = xllamacpp.Server(settings)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
