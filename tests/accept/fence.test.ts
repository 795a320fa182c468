// Goal: no unauthorised client gets in: no web page, no other user, no guest. Method: hostile requests as raw bytes on a host
// with vmd and a real guest, and connections out of that guest. All state of vmd and libvirt is compared before and after. Ends
// with the same requests of authorised clients.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { curlOn } from './curl.ts'
import { asBytes, hostileHosts, operations, origins, sendRaw, strange, tally } from './hostile.ts'
import { inGuest } from './in-guest.ts'
import { addMembers } from './member.ts'
import type { RawAnswer } from './raw-requests.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
/** A thousand programs are started in an emulated guest. */
const CONNECTIONS_MS = 400_000
const STRANGER = 54_321
const MEMBER = 54_322
const SOCKET = '/run/vmd-test.sock'
const OWN = 'Host: 127.0.0.1:8080\r\n'

let dir: string
let host: LabHost
const { get, post, patch } = curlOn(() => host)

/** All state that a request could have changed, as one text. */
async function everything(): Promise<string> {
  const script =
    'find /var/lib/skerry -type f -name "*.json" -exec sha256sum {} + | sort; find /var/lib/skerry | sort; virsh list --all; cat /proc/mounts | sort'
  return (await host.run(['sh', '-c', script])).stdout
}

/** The one body, and no header that a web page could use. */
function assertRefused(answers: readonly RawAnswer[]): void {
  assert.deepEqual(tally(answers), { 403: answers.length })
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1)
  const { body = '' } = answers[0] ?? {}
  assert.equal((JSON.parse(body) as { code: number }).code, 403)
  assert.doesNotMatch(body, /vm-1|nobody/)
  for (const { head } of answers) {
    assert.doesNotMatch(head, /access-control/i)
    assert.match(head, /x-content-type-options: nosniff/i)
  }
}

async function unchanged(act: () => Promise<void>): Promise<void> {
  const before = await everything()
  await act()
  assert.equal(await everything(), before)
}

suite('access control', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'fence-'))
    host = await startHost({ dir: join(dir, 'host') })
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', await guestImage('small'))
    }
    await host.startVmd()
    assert.equal((await post('/api/vms', { id: 'vm-1' })).status, 201)
    assert.equal((await patch('/api/vms/power/vm-1', 'on')).status, 200)
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('2,080 requests with a foreign Host change nothing and get the same rejection', async (t) => {
    const requests = hostileHosts.flatMap((name) =>
      origins.flatMap((origin) => operations.map((one) => asBytes(one, name + origin))),
    )
    assert.equal(requests.length, 2080)
    await unchanged(async () => assertRefused(await sendRaw(host, { requests })))
    t.diagnostic(`${requests.length} hostile requests: ${requests.length} × the one 403, 0 changes`)
  })

  test('requests of another page with our own name, and invalid ones, get the same rejection', async () => {
    const pages = [
      'Origin: http://evil.example\r\n',
      'Origin: null\r\n',
      'Origin: http://localhost:8080\r\n',
      'Origin: https://127.0.0.1:8080\r\n',
      'Origin: http://127.0.0.1:8080\r\nOrigin: http://evil.example\r\n',
      'Sec-Fetch-Site: cross-site\r\n',
      'Sec-Fetch-Site: same-site\r\n',
      'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n',
      'Origin: http://evil.example\r\nExpect: 100-continue\r\n',
      'Origin: http://evil.example\r\nExpect: something\r\n',
      'Origin: http://evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n',
    ]
    const all = [...operations, ...strange]
    const requests = pages.flatMap((page) => all.map((one) => asBytes(one, OWN + page)))
    await unchanged(async () => assertRefused(await sendRaw(host, { requests })))
    const preflight = asBytes(
      ['OPTIONS', '/api/vms'],
      `${OWN}Origin: http://evil.example\r\nAccess-Control-Request-Method: DELETE\r\n`,
    )
    assertRefused(await sendRaw(host, { requests: [preflight] }))
  })

  test('1,000 requests of another user get the same rejection, on both addresses', async (t) => {
    const all = [...operations, ...strange, ['GET', '/'], ['BAD\u0001', '/']] as const
    const requests = Array.from({ length: 500 }, (_, at) =>
      asBytes(all[at % all.length] ?? ['GET', '/'], OWN),
    )
    await unchanged(async () => {
      for (const address of ['127.0.0.1', '::1'])
        assertRefused(await sendRaw(host, { uid: STRANGER, host: address, requests }))
    })
    t.diagnostic('1000 requests of another user: 1000 × the one 403, 0 changes')
  })

  test('a user who disconnects at once is not treated as root', async () => {
    const requests = Array.from({ length: 200 }, (_, at) =>
      asBytes(['POST', '/api/vms', `{"id":"ghost-${at}"}`], OWN),
    )
    await unchanged(async () => {
      await sendRaw(host, { uid: STRANGER, requests, hangUp: true, parallel: 32 })
      // Any pending work for them is done once another request was answered.
      assert.deepEqual((await get('/api/vms')).body, ['vm-1'])
    })
  })

  test('root and members of the group skerry may use all 13 operations', async (t) => {
    const reads = operations.filter(([method]) => method === 'GET')
    const requests = reads.map((one) => asBytes(one, OWN))
    assertRefused(await sendRaw(host, { uid: MEMBER, requests }))
    await addMembers(host, dir, [{ name: 'anna', uid: MEMBER, home: '/home/anna' }])
    const hasAddress = async () => (await get('/api/vms/vm-1/ipaddress')).status === 200
    await until('the guest has an address', hasAddress, BOOT_MS)
    for (const uid of [0, MEMBER]) {
      await mkdir(join(dir, String(uid)))
      await chown(join(dir, String(uid)), uid, uid)
      const requests = friendly(uid).map((one) => asBytes(one, OWN))
      const answers = await sendRaw(host, { uid, requests, parallel: 1 })
      const done = answers.filter(({ status: code }) => [200, 201, 204].includes(code))
      assert.equal(done.length, 13, JSON.stringify(answers))
    }
    assertRefused(await sendRaw(host, { uid: STRANGER, requests }))
    t.diagnostic('root 13 of 13, a member of the group 13 of 13')
  })

  test('many requests on one connection are all authorised as the user who opened it', async () => {
    const one = asBytes(['GET', '/api/vms'], OWN)
    const last = asBytes(['GET', '/api/vms'], `${OWN}Connection: close\r\n`)
    const counts = []
    for (const uid of [0, STRANGER]) {
      const [answer] = await sendRaw(host, { uid, requests: [one.repeat(20) + last] })
      counts.push(answer?.status)
    }
    assert.deepEqual(counts, [200, 403])
  })

  test('a guest reaches nothing of its host except DHCP and DNS', async (t) => {
    const extra = ['192.0.2.1', '198.51.100.1', '203.0.113.1']
    for (const address of extra) await host.run(['ip', 'address', 'add', address, 'dev', 'lo'])
    const open = [22, 111, 5432, 7233, 8081, 16_509, 5900, 5999]
    await using listeners = await listen(['192.0.2.1:53', ...open.map((port) => `0.0.0.0:${port}`)])
    const ports = [53, 67, 8080, 16_514, ...open]
    for (let port = 5901; port < 5999; port++) ports.push(port)
    for (let port = 1000; ports.length < 250; port++) ports.push(port)
    const addresses = ['10.83.0.1', ...extra]

    const reached = await connections(addresses, ports)
    assert.deepEqual(reached, ['10.83.0.1:53'])
    assert.deepEqual(listeners.seen(), [])
    t.diagnostic(`${addresses.length * ports.length} connections of a guest: 0 but DNS`)

    // The same without the firewall: the probes work.
    await host.killVmd()
    await host.run(['iptables', '-F', 'INPUT'])
    assert.deepEqual(
      await connections(addresses, [8081, 22]),
      addresses.flatMap((address) => [`${address}:8081`, `${address}:22`]),
    )
    await until('the listeners report', () => listeners.seen().length === 8)
    await host.startVmd()
    assert.deepEqual(await connections(addresses, [53, 8081, 22]), ['10.83.0.1:53'])
    assert.equal(listeners.seen().length, 8)
  })

  test('DNS and DHCP work, and the host reaches the guest', async () => {
    const lookedUp = await inGuest(host, 'vm-1', 'nslookup host-1 10.83.0.1 2>&1; echo $?')
    assert.match(lookedUp, /Server:\s+10\.83\.0\.1/)
    // A name server without a network returns an error, but it answers.
    assert.doesNotMatch(lookedUp, /timed out|no servers|unreachable/i)
    const lease = 'udhcpc -i $(ls /sys/class/net | grep ^e | head -n 1) -n -q -f 2>&1'
    assert.match(await inGuest(host, 'vm-1', lease), /lease of 10\.83\.\d+\.\d+ obtained/)
    const { body } = await get('/api/vms/vm-1/ipaddress')
    const { message } = body as { message: string }
    const { stdout } = await host.run(['bash', '-c', `head -c 4 < /dev/tcp/${message}/22`])
    assert.equal(stdout, 'SSH-')
  })

  test('after a restart of libvirtd the firewall is first again, once, and for IPv6 too', async () => {
    await host.killLibvirt()
    await host.startLibvirt()
    for (const program of ['iptables', 'ip6tables']) {
      const isFirst = async () => {
        const { stdout } = await host.run([program, '-w', '-S', 'INPUT'])
        const [, first, second] = stdout.split('\n')
        return (
          first === '-A INPUT -i skerry0 -j SKERRY_GUESTS' &&
          second === '-A INPUT -i sk-+ -j SKERRY_TENANTS' &&
          stdout.split('SKERRY').length === 3
        )
      }
      await until(`${program} has the firewall first`, isFirst, BOOT_MS)
    }
  })

  test('with a token only its holder may send requests, and through the socket only the group', async () => {
    await host.killVmd('SIGTERM')
    const file = join(dir, 'token')
    const word = 'a-word-of-our-own-choice'
    await writeFile(file, word, { mode: 0o600 })
    const program = join(import.meta.dirname, '../../apps/vmd/src/main.ts')
    const options = ['--token-file', file, '--unix-socket', SOCKET]
    const vmd = host.spawn([process.execPath, program, ...options], {
      stdio: 'ignore',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SUDO_UID: String(STRANGER) },
    })
    const bearer = `Authorization: Bearer ${word}`
    const by = (uid: number, ...words: readonly string[]) => {
      const as = ['setpriv', `--reuid=${uid}`, '--regid=65534', '--init-groups']
      return status(uid === MEMBER ? as : [...as.slice(0, 3), '--clear-groups'], words)
    }
    const loopback = 'http://127.0.0.1:8080/api/vms'
    const byFile = ['--unix-socket', SOCKET, 'http://any/api/vms']
    const answers = async () => (await by(0, '-H', bearer, ...byFile)) === 200
    await until('vmd answers', answers, BOOT_MS)
    assert.equal(await by(0, loopback), 401)
    assert.equal(await by(0, '-H', bearer, loopback), 200)
    assert.equal(await by(STRANGER, '-H', bearer, loopback), 200, 'who called sudo')
    assert.equal(await by(STRANGER + 7, '-H', bearer, loopback), 403)
    assert.equal(await by(MEMBER, '-H', bearer, ...byFile), 200)
    assert.equal(await by(MEMBER, ...byFile), 401)
    assert.equal(await by(STRANGER, '-H', bearer, ...byFile), 0)
    const folder = JSON.stringify({ guestPath: 'by-file', hostPath: dir, flags: 4 })
    const shareByFile = ['--unix-socket', SOCKET, '-d', folder, 'http://any/api/vms/vm-1/folders']
    const { stdout: reported } = await host.run(['curl', '-s', '-H', bearer, ...shareByFile])
    assert.match(
      reported,
      /^{"code":403,"message":"folders cannot be shared through the Unix socket",/,
    )
    assert.equal((await host.run(['stat', '-c', '%a %g', SOCKET])).stdout, '660 54320\n')
    vmd.kill('SIGTERM')
    await once(vmd, 'close')
  })
})

/** The status that curl received; 0 if it could not connect. */
async function status(as: readonly string[], words: readonly string[]): Promise<number> {
  const curl = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', ...words]
  return Number((await host.run([...as, ...curl])).stdout)
}

/** All 13 operations with success, on their own VMs. */
function friendly(uid: number): readonly (readonly [string, string, string?])[] {
  const id = `own-${uid}`
  const folder = `{"guestPath":"docs","hostPath":"${join(dir, String(uid))}","flags":4}`
  return [
    ['POST', '/api/vms', `{"id":"${id}"}`],
    ['POST', '/api/vms', `{"id":"${id}-clone","parentid":"${id}"}`],
    ['GET', '/api/vms'],
    ['GET', '/api/vms/vm-1'],
    ['PATCH', '/api/vms/power/vm-1', 'on'],
    ['GET', `/api/vms/power/${id}`],
    ['GET', '/api/vms/vm-1/ipaddress'],
    ['PATCH', `/api/vms/${id}/folders`, 'true'],
    ['POST', `/api/vms/${id}/folders`, folder],
    ['GET', `/api/vms/${id}/folders`],
    ['GET', `/api/vms/${id}/folders/docs`],
    ['DELETE', `/api/vms/${id}/folders/docs`],
    ['DELETE', `/api/vms/${id}`],
  ]
}

/** The addresses that the guest can connect to. */
async function connections(
  addresses: readonly string[],
  ports: readonly number[],
): Promise<readonly string[]> {
  const script = `for a in ${addresses.join(' ')}; do for p in ${ports.join(' ')}; do
    nc -w 2 $a $p -e true 2>/dev/null && echo $a:$p; done; done; echo end`
  const lines = (await inGuest(host, 'vm-1', script, CONNECTIONS_MS)).trim().split('\n')
  assert.equal(lines.pop(), 'end')
  return lines
}

async function listen(
  pairs: readonly string[],
): Promise<AsyncDisposable & { seen(): readonly string[] }> {
  const file = `${import.meta.dirname}/listeners.ts`
  const child = host.spawn([process.execPath, file, ...pairs], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until('the listeners are there', () => printed.includes('ready\n'))
  return {
    seen: () => printed.trim().split('\n').slice(1),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'close')
    },
  }
}
