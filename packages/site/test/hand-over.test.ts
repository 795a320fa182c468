// Goal: each server can read only its own files. Method: a real tree, handed over by root, and processes of other users
// that try to open every file in it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'

import { serverFiles } from '../src/hand-over/server-files.ts'
import { handOver, userIn } from '../src/index.ts'

const run = promisify(execFile)
const asRoot = process.getuid?.() === 0 ? false : 'needs root'
/** Uids that no user of the machine has. */
const console = { uid: 64_101, gid: 64_101 }
const workflow = { uid: 64_102, gid: 64_102 }
const egress = { uid: 64_103, gid: 64_103 }

let dir = ''
const at = (...names: string[]) => join(dir, ...names)
const put = async (path: string, text = 'secret') => {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  await writeFile(path, text, { mode: 0o600 })
}
const json = (value: unknown) => JSON.stringify(value)

/** Files of an older version: all owned by root, the socket of the egress beside the keys of the workflow server. */
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hand-over-'))
  await chmod(dir, 0o755)
  await put(at('console/console.json'), json({ name: 'c', identity: at('console/identity') }))
  await put(at('console/identity/console.pem'))
  const socket = at('workflow/egress.sock')
  await put(
    at('workflow/workflow.json'),
    json({ identity: at('workflow/identity'), egress: socket }),
  )
  await put(at('workflow/identity/seal.key'))
  await put(at('workflow/egress.json'), json({ listen: socket, orgs: { one: [] } }))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const handAll = async () => {
  await handOver(at('console/console.json'), console)
  await handOver(at('workflow/workflow.json'), workflow)
  await handOver(at('workflow/egress.json'), egress)
}

const all = [
  'console/console.json',
  'console/identity/console.pem',
  'workflow/workflow.json',
].concat(['workflow/identity/seal.key', 'workflow/egress.json'])

/** The files that this user can open. */
async function opened({ uid }: { readonly uid: number }): Promise<readonly string[]> {
  const script = 'for each; do if cat "$each" >/dev/null 2>&1; then echo "$each"; fi; done'
  const as = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--']
  const words = [...as, 'sh', '-c', script, 'sh', ...all.map((file) => at(file))]
  const { stdout } = await run('setpriv', words)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((file) => file.slice(dir.length + 1))
}

test('a user is found in /etc/passwd by the full name', () => {
  const text = 'root:x:0:0::/root:/bin/sh\nskerry-cell-2:x:7:8::/:/x\nskerry-cell:x:12:34::/:/x\n'
  assert.deepEqual(userIn(text, 'skerry-cell'), { uid: 12, gid: 34 })
  assert.equal(userIn(text, 'skerry'), undefined)
})

test('each server opens its own files and no others', { skip: asRoot }, async () => {
  assert.deepEqual(await opened(egress), [])
  await handAll()
  assert.deepEqual(await opened(console), ['console/console.json', 'console/identity/console.pem'])
  assert.deepEqual(await opened(workflow), ['workflow/workflow.json', 'workflow/identity/seal.key'])
  assert.deepEqual(await opened(egress), ['workflow/egress.json'])
})

test(
  'the socket of an older version moves to a directory of the egress',
  { skip: asRoot },
  async () => {
    await handAll()
    const moved = at('workflow/egress/egress.sock')
    const read = async (file: string) => JSON.parse(await readFile(at(file), 'utf8')) as object
    assert.deepEqual(await read('workflow/egress.json'), { listen: moved, orgs: { one: [] } })
    assert.deepEqual(await read('workflow/workflow.json'), {
      identity: at('workflow/identity'),
      egress: moved,
    })
    const { uid, gid, mode } = await lstat(at('workflow/egress'))
    assert.deepEqual([uid, gid, mode & 0o7777], [egress.uid, egress.gid, 0o710])
    const before = await lstat(at('workflow/egress.json'))
    await handAll()
    assert.equal((await lstat(at('workflow/egress.json'))).ctimeMs, before.ctimeMs, 'once')
  },
)

test('files that root adds later are handed over at the next start', { skip: asRoot }, async () => {
  await handAll()
  await writeFile(at('console/identity/server.pem'), 'new', { mode: 0o644 })
  await handAll()
  const { uid, mode } = await lstat(at('console/identity/server.pem'))
  assert.deepEqual([uid, mode & 0o777], [console.uid, 0o600])
})

test('links created by a server’s user are not followed', { skip: asRoot }, async () => {
  await handAll()
  await put(at('other/key'))
  await chmod(at('other'), 0o755)
  await symlink(at('other/key'), at('console/identity/soft'))
  await symlink(at('other'), at('console/identity/directory'))
  await link(at('other/key'), at('console/identity/hard'))
  await rm(at('console/identity/console.pem'))
  await symlink(at('workflow/identity'), at('console/identity/console.pem'))
  await chown(at('console/identity'), console.uid, console.gid)
  await handAll()
  assert.equal((await lstat(at('other/key'))).uid, 0)
  assert.equal((await lstat(at('other'))).uid, 0)
  assert.equal((await lstat(at('workflow/identity'))).uid, workflow.uid)
})

test('a network server gets its databases, and the keys beside its configuration but no others', () => {
  const files = (key: string) =>
    serverFiles('/etc/skerry/network/network.json', json({ data: '/var/lib/ovn', tls: { key } }))
  const keys = '/etc/skerry/network/identity'
  assert.deepEqual(files(`${keys}/key.pem`).trees, ['/var/lib/ovn', keys])
  assert.deepEqual(files('/etc/ssl/private/key.pem').trees, ['/var/lib/ovn'])
})

test(
  'a configuration that names a directory of others, straight or by a link, hands nothing over',
  { skip: asRoot },
  async () => {
    await put(at('other/key'))
    await chmod(at('other'), 0o755)
    await handAll()
    await symlink(dir, at('console/identity/up'))
    const refused = ['other', 'console', 'console/../other', 'console/identity/up/other', '.']
    for (const name of refused) {
      for (const key of ['identity', 'images', 'data']) {
        await writeFile(at('console/console.json'), json({ [key]: `${dir}/${name}` }))
        const handed = handOver(at('console/console.json'), console)
        await assert.rejects(handed, { name: 'Fault', hint: /chown -R 64101:64101/ }, name)
      }
    }
    assert.equal((await lstat(at('other/key'))).uid, 0)
    assert.equal((await lstat(at('console'))).uid, 0)
    // Elsewhere, but its own by the decision of an administrator.
    await chown(at('other'), console.uid, console.gid)
    await writeFile(at('console/console.json'), json({ images: at('other') }))
    await handOver(at('console/console.json'), console)
    assert.equal((await lstat(at('other/key'))).uid, 0, 'left as it is')
  },
)

test('the egress gets nothing of the workflow server beside it', { skip: asRoot }, async () => {
  await handAll()
  for (const socket of ['identity/a.sock', 'egress/../identity/a.sock', '../console/a.sock']) {
    const claimed = { listen: `${dir}/workflow/${socket}`, identity: at('workflow/identity') }
    await writeFile(at('workflow/egress.json'), json(claimed))
    await handOver(at('workflow/egress.json'), egress)
    assert.equal((await lstat(at('workflow/identity'))).uid, workflow.uid, socket)
    assert.equal((await lstat(at('console'))).uid, 0, socket)
  }
})
