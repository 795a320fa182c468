// A real Samba as the domain controller of an Active Directory, in a network of its own: its LDAPS port is visible on the machine.
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { startIssuer } from '../network/certificates.ts'
import { forgetNetwork, makeSwitch } from '../network/netns.ts'
import { lastWords, startDaemon } from '../servers/daemon.ts'
import { openWindow } from '../servers/window.ts'
import { childrenOf, killAndWait } from '../system/processes.ts'
import { run } from '../system/run.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
import { activeDirectory, asDomainHost, sambaTree } from './samba-tree.ts'

/** On the loopback of both networks, where no other server of the machine listens. */
const ADDRESS = '127.0.0.63'
/** Samba's ports cannot be chosen. */
const LDAPS = 636
const START_MS = 300_000

export interface Samba extends AsyncDisposable {
  /** With TLS from the start. */
  readonly url: string
  /** The certificate of its issuer, in PEM. */
  readonly ca: string
  readonly base: string
  /** May change everything. */
  readonly admin: { readonly dn: string; readonly password: string }
}

/** Keeps its data below a directory, which must be empty. */
export async function startSamba(dir: string): Promise<Samba> {
  const tree = await sambaTree()
  await using stack = new AsyncDisposableStack()
  const at = (file: string) => join(dir, file)
  for (const each of ['upper/tls', 'work', 'root']) await mkdir(at(each), { recursive: true })
  await using issuer = await startIssuer('active directory')
  const { key, cert } = await issuer.issue(`IP:${ADDRESS}`)
  await writeFile(at('upper/tls/key.pem'), key, { mode: 0o600 })
  await writeFile(at('upper/tls/cert.pem'), cert)
  await writeFile(at('upper/tls/ca.pem'), issuer.cert)
  // Named as a switch: it may have no process in it for a moment.
  const netns = `skerry-${randomBytes(4).toString('hex')}`
  stack.defer(() => forgetNetwork(netns))
  await makeSwitch(netns)
  const log = at('samba.log')
  // All changes are in `upper`; the tree stays as it was built.
  const mount = `mount -t overlay overlay -o lowerdir=${tree},upperdir=${at('upper')},workdir=${at('work')} ${at('root')}`
  const samba = [
    'samba --foreground --no-process-group --debug-stdout',
    "--option='server services=ldap'",
    ...['key', 'cert', 'ca'].map((name) => `--option='tls ${name}file=/tls/${name}.pem'`),
  ].join(' ')
  const script = `${mount}; mount -t proc proc ${at('root/proc')}; exec chroot ${at('root')} ${samba}`
  const daemon = startDaemon({ dir, log, netns, outlives: false, command: asDomainHost(script) })
  stack.defer(async () => {
    // All others end with the first process of their namespace.
    await killAndWait([...childrenOf(daemon.pid), daemon.pid])
  })
  const isUp = async () => {
    if (daemon.exitCode !== null) throw new Error(`Samba ended: ${await lastWords(log, 40)}`)
    const listening = await run(['ip', 'netns', 'exec', netns, 'ss', '-Hltn', `sport = :${LDAPS}`])
    return listening !== ''
  }
  await until(`Samba listens; see ${log}`, isUp, START_MS, SLOW_POLL_MS)
  const elsewhere = [{ address: ADDRESS, port: LDAPS }]
  stack.use(await openWindow(at('window'), { netns, ports: [], elsewhere }))
  const all = stack.move()
  const { base, adminPassword } = activeDirectory
  return {
    url: `ldaps://${ADDRESS}`,
    ca: issuer.cert,
    base,
    admin: { dn: `CN=Administrator,CN=Users,${base}`, password: adminPassword },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
