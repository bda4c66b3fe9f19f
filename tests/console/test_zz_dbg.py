from console.test_duplicates import *
from console.conftest import *
def test_dbg(pair, curator):
    r=curator.get(URL, {"threshold":"0.80"})
    p=Page(r)
    print(p.text[:3000]); print([f.buttons for f in p.forms])
    i=r.content.decode().find("m-dock"); print(r.content.decode()[i-200:i+1500])
