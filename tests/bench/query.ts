import { hashPassword, verifyPassword } from '../../apps/cloud/src/auth/password.ts'
import { compare, compareAll, type Figure } from './figure.ts'
import { load } from './load.ts'
import { startProcess } from './side-process.ts'

/** The user that every API of a test has. */
const DOOR_USER = { name: 'alice@eng', password: 'secret' } as const

/** As many as the query service has database connections. */
const CONNECTIONS = 8
/** Ours also looks up the session, isolates tenants, counts exactly and writes XML with links: two or three messages to the database instead of one. */
const AT_LEAST = 0.2

/** Password checks are slow on purpose; everything around them may cost this share of it. */
const LOGIN_AT_MOST = 1.2

/** The first page by status and the document of a VM, against a Fastify route with one SQL statement in the same database. */
export async function benchQuery(pairs: number): Promise<Figure[]> {
  await using api = await startProcess('query-api.ts')
  const { port, token, org, vm, url } = JSON.parse(api.line) as Record<string, string>
  await using bare = await startProcess('bare-query.ts', [url ?? '', org ?? '', vm ?? ''])
  const headers = {
    accept: 'application/*+xml;version=5.1',
    'x-cloud-authorization': token ?? '',
  }
  const compared: readonly (readonly [name: string, ours: string, theirs: string])[] = [
    [
      'first page by status',
      '/api/query?type=vm&filter=status==POWERED_ON&fields=name,containerName',
      '/query',
    ],
    ['document of a VM', `/api/vApp/vm-${vm}`, '/vm'],
  ]
  const figures: Figure[] = []
  for (const [name, ours, theirs] of compared) {
    const more = { headers, connections: CONNECTIONS }
    figures.push(
      ...(await compareAll(
        [
          { name, unit: 'requests/s', atLeast: AT_LEAST },
          { name, unit: 'requests/CPU s', atLeast: AT_LEAST },
        ],
        pairs,
        () => load({ pid: api.pid, url: `http://127.0.0.1:${port}${ours}` }, more),
        () => load({ pid: bare.pid, url: `http://127.0.0.1:${bare.line}${theirs}` }, more),
      )),
    )
  }
  figures.push(await benchLogin(`http://127.0.0.1:${port}`, pairs))
  return figures
}

/** One login after another, against the password check alone. */
async function benchLogin(url: string, pairs: number): Promise<Figure> {
  const kept = await hashPassword(DOOR_USER.password, Buffer.alloc(16, 1))
  const coded = Buffer.from(`${DOOR_USER.name}:${DOOR_USER.password}`).toString('base64')
  const headers = { accept: 'application/*+xml;version=5.1', authorization: `Basic ${coded}` }
  const timed = async (work: () => Promise<boolean>): Promise<number> => {
    const began = performance.now()
    if (!(await work())) throw new Error('the password was refused')
    return performance.now() - began
  }
  return compare(
    { name: 'login', unit: 'ms', atMost: LOGIN_AT_MOST },
    pairs,
    () => timed(async () => (await fetch(`${url}/api/sessions`, { method: 'POST', headers })).ok),
    () => timed(() => verifyPassword(DOOR_USER.password, kept)),
  )
}
