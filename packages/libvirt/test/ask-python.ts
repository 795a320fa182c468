import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const PROGRAM = '/usr/bin/python3'

const SCRIPT = `
import json, sys, libvirt
libvirt.registerErrorHandler(lambda *_: None, None)
conn = libvirt.open(sys.argv[1])
dom = conn.lookupByName('test')
try:
    conn.lookupByName('missing')
except libvirt.libvirtError as error:
    refused = [error.get_error_code(), error.get_error_domain(), error.get_error_message()]
print(json.dumps({
    'hostname': conn.getHostname(),
    'libVersion': conn.getLibVersion(),
    'type': conn.getType(),
    'capabilities': conn.getCapabilities(),
    'node': conn.getInfo(),
    'names': sorted(d.name() for d in conn.listAllDomains()),
    'uuid': dom.UUIDString(),
    'state': dom.state(),
    'info': dom.info()[:4],
    'xml': dom.XMLDesc(0),
    'stats': [[d.name(), s] for d, s in conn.getAllDomainStats(libvirt.VIR_DOMAIN_STATS_STATE)],
    'networks': [n.name() for n in conn.listAllNetworks()],
    'refused': refused,
}))
`

export interface Answers {
  readonly hostname: string
  readonly libVersion: number
  readonly type: string
  readonly capabilities: string
  readonly node: readonly (string | number)[]
  readonly names: readonly string[]
  readonly uuid: string
  readonly state: readonly number[]
  readonly info: readonly number[]
  readonly xml: string
  readonly stats: readonly (readonly [string, Record<string, number>])[]
  readonly networks: readonly string[]
  readonly refused: readonly [number, number, string]
}

/** The answers of the same daemon to libvirt's own client library. */
export async function askPython(socket: string): Promise<Answers> {
  const uri = `test+unix:///default?socket=${socket}`
  const { stdout } = await promisify(execFile)(PROGRAM, ['-c', SCRIPT, uri])
  return JSON.parse(stdout) as Answers
}

export async function needsPython(): Promise<string | false> {
  try {
    await promisify(execFile)(PROGRAM, ['-c', 'import libvirt'])
    return false
  } catch {
    return 'needs python3-libvirt: npm run setup'
  }
}
