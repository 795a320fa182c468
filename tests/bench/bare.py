# The baseline engine: Debian's python3-libvirt, doing the work that Skerry is compared with.
# One input line of JSON is one request, one output line its response; the time is measured here, around the work alone.
import json
import subprocess
import sys
import time

import libvirt

conn = libvirt.open("qemu:///system")


def calls(name, count):
    dom = conn.lookupByName(name)
    begun = time.perf_counter()
    for _ in range(count):
        dom.state()
    return time.perf_counter() - begun


def create(backing, overlay, xml):
    begun = time.perf_counter()
    command = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", backing, overlay]
    subprocess.run(command, check=True)
    conn.defineXML(xml)
    return time.perf_counter() - begun


def power_on(name):
    dom = conn.lookupByName(name)
    begun = time.perf_counter()
    dom.create()
    return time.perf_counter() - begun


def destroy(name):
    conn.lookupByName(name).destroy()


def undefine(name):
    conn.lookupByName(name).undefine()


def list_one_by_one():
    begun = time.perf_counter()
    seen = {}
    for dom in conn.listAllDomains():
        state, _ = dom.state()
        saved = state == libvirt.VIR_DOMAIN_SHUTOFF and dom.hasManagedSaveImage() == 1
        seen[dom.name()] = (state, saved)
    return answer_to_list(seen, begun)


def list_at_once():
    begun = time.perf_counter()
    saved = {dom.name() for dom in conn.listAllDomains(libvirt.VIR_CONNECT_LIST_DOMAINS_MANAGEDSAVE)}
    seen = {}
    for dom, stats in conn.getAllDomainStats(libvirt.VIR_DOMAIN_STATS_STATE):
        name = dom.name()
        seen[name] = (stats["state.state"], name in saved)
    return answer_to_list(seen, begun)


def list_names():
    begun = time.perf_counter()
    seen = {dom.name() for dom in conn.listAllDomains()}
    return answer_to_list(seen, begun)


def count_running():
    return len(conn.listAllDomains(libvirt.VIR_CONNECT_LIST_DOMAINS_RUNNING))


def list_full():
    begun = time.perf_counter()
    seen = {}
    for dom in conn.listAllDomains():
        state, _ = dom.state()
        running = state in (libvirt.VIR_DOMAIN_RUNNING, libvirt.VIR_DOMAIN_PAUSED)
        saved = not running and dom.hasManagedSaveImage() == 1
        capacity = dom.blockInfo("vda")[0]
        source = libvirt.VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_LEASE
        addresses = dom.interfaceAddresses(source) if running else {}
        seen[dom.name()] = (state, saved, dom.XMLDesc(), capacity, addresses)
    return answer_to_list(seen, begun)


def answer_to_list(seen, begun):
    return {"seconds": time.perf_counter() - begun, "count": len(seen)}


work = {
    "calls": calls,
    "create": create,
    "powerOn": power_on,
    "destroy": destroy,
    "undefine": undefine,
    "listOneByOne": list_one_by_one,
    "listAtOnce": list_at_once,
    "listNames": list_names,
    "listFull": list_full,
    "countRunning": count_running,
}

for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"value": work[question["do"]](*question["args"])}), flush=True)
