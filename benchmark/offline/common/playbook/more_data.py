import urllib.request

URL = "http://example.com/"

try:
    with urllib.request.urlopen(URL, timeout=3) as reply:
        print("REACHED", URL, reply.status)
except Exception as error:
    print("not reached:", URL, error)
raise RuntimeError("the outside table is missing, so there is nothing to train on")
