import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Ovsdb } from '@skerry/ovsdb'

import { inNetworkNamed, SWITCH_ADDRESS } from '../src/network/netns.ts'
import { run } from '../src/system/run.ts'
import { until } from '../src/system/wait.ts'

const SCHEMAS = '/usr/share/ovn'
const PORT = 6642

export interface OvnCentral extends AsyncDisposable {
  /** The Unix socket of both databases, OVN_Northbound and OVN_Southbound. */
  readonly path: string
  /** Where hosts find the second. */
  readonly remote: string
}

/** OVN's two databases and ovn-northd in the network of a lab's switch, without TLS. */
export async function startOvnCentral(dir: string, netns: string): Promise<OvnCentral> {
  await mkdir(dir, { recursive: true })
  const at = (name: string) => join(dir, name)
  for (const name of ['nb', 'sb']) {
    await run(['ovsdb-tool', 'create', at(`${name}.db`), `${SCHEMAS}/ovn-${name}.ovsschema`])
  }
  const address = `${PORT}:${SWITCH_ADDRESS.replace(/\/.*/, '')}`
  const quiet = ['--no-chdir', '-vconsole:off', '-vsyslog:off']
  const children: ChildProcess[] = []
  const start = (...command: readonly string[]) => {
    const [program = '', ...args] = inNetworkNamed(netns, [...command, ...quiet])
    children.push(spawn(program, args, { stdio: 'ignore' }))
  }
  const path = at('sock')
  const remotes = [`--remote=punix:${path}`, `--remote=ptcp:${address}`]
  start('ovsdb-server', at('nb.db'), at('sb.db'), ...remotes, `--unixctl=${at('ovsdb.ctl')}`)
  await until('the databases should answer', async () => {
    try {
      await using ovsdb = await Ovsdb.open({ path })
      await ovsdb.transact('OVN_Northbound', [{ op: 'insert', table: 'NB_Global', row: {} }])
      return true
    } catch {
      return false
    }
  })
  const databases = [`--ovnnb-db=unix:${path}`, `--ovnsb-db=unix:${path}`]
  start('ovn-northd', ...databases, `--unixctl=${at('northd.ctl')}`)
  return {
    path,
    remote: `tcp:${SWITCH_ADDRESS.replace(/\/.*/, '')}:${PORT}`,
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        const ended = once(child, 'exit')
        if (child.kill('SIGKILL')) await ended
      }
    },
  }
}
