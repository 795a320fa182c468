// Goal: a lab starts with one command and is removed without a trace, even after failures. Method: each lab runs on a
// separate lab host. No one else works on that machine, so every process, mount, link and namespace that is new afterwards belongs
// to the lab.
import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip, until } from '../src/index.ts'
import { HOST_MARK } from '../src/system/processes.ts'
import { attempt } from '../src/system/run.ts'
import { MAIN, ownMachine } from './own-machine.ts'

const skip = reasonToSkip('host') ?? false

test(
  'up starts hosts that reach each other, status reports them, down leaves no trace',
  { skip },
  async () => {
    await using own = await ownMachine()
    const { dir, lab, machine } = own
    const before = await own.traces()
    const up = await lab('up', '--dir', join(dir, 'a'), '--hosts', '2')
    assert.equal(up.code, 0, up.stderr)
    const report = up.report()
    assert.deepEqual(Object.keys(report), ['dir', 'hosts'])
    const [one, two] = report.hosts
    assert.ok(one && two)
    assert.deepEqual(Object.keys(one), ['name', 'netns', 'dir', 'init', 'address', 'libvirt'])
    assert.deepEqual([one.name, two.name], ['host-1', 'host-2'])

    const across = await machine.run([
      'ip',
      'netns',
      'exec',
      one.netns,
      'ip',
      'route',
      'get',
      two.address,
    ])
    assert.match(across.stdout, /dev eth0/)
    const version = await machine.run([
      'virsh',
      '-c',
      `qemu+unix:///system?socket=${two.libvirt?.socket}`,
      'version',
    ])
    assert.equal(version.code, 0, version.stderr)
    assert.deepEqual((await lab('status', '--dir', join(dir, 'a'))).report(), report)
    assert.deepEqual(JSON.parse(await readFile(join(dir, 'a', 'lab.json'), 'utf8')), report)
    assert.deepEqual((await lab('up', '--dir', join(dir, 'a'))).report(), report)

    // A killed `up` may have been writing its report.
    await writeFile(join(dir, 'a', '.lab.json.1.tmp'), '{')
    assert.equal((await lab('down', '--dir', join(dir, 'a'))).code, 0)
    assert.deepEqual(await own.traces(), before)
    assert.equal((await lab('down', '--dir', join(dir, 'a'))).code, 0)
  },
)

test('two labs run at once, and removing one does not affect the other', { skip }, async () => {
  await using own = await ownMachine()
  const { dir, lab } = own
  const [a, b] = await Promise.all([
    lab('up', '--dir', join(dir, 'a')),
    lab('up', '--dir', join(dir, 'b')),
  ])
  assert.deepEqual([a.code, b.code], [0, 0], a.stderr + b.stderr)
  assert.equal((await lab('down', '--dir', join(dir, 'a'))).code, 0)
  assert.deepEqual((await lab('status', '--dir', join(dir, 'b'))).report(), b.report())
})

test('a host of a lab loses power and comes back', { skip }, async () => {
  await using own = await ownMachine()
  const { dir, lab, machine } = own
  const up = (await lab('up', '--dir', join(dir, 'a'))).report()
  const card = async () => {
    const link = ['ip', '-n', up.hosts[0]?.netns ?? '', '-brief', 'link', 'show', 'eth0']
    return (await machine.run(link)).stdout.split(/\s+/)[2]
  }
  const before = await card()
  const off = (await lab('power-cut', '--dir', join(dir, 'a'), 'host-1')).report()
  assert.deepEqual(Object.keys(off.hosts[0] ?? {}), ['name', 'netns', 'dir', 'address'])
  const on = (await lab('power-on', '--dir', join(dir, 'a'), 'host-1')).report()
  assert.notEqual(on.hosts[0]?.init, up.hosts[0]?.init)
  assert.deepEqual([before, await card()], ['02:5e:0a:5b:00:01', '02:5e:0a:5b:00:01'])
  assert.deepEqual((await lab('status', '--dir', join(dir, 'a'))).report(), on)

  const unknown = await lab('power-cut', '--dir', join(dir, 'a'), 'host-7')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /has no "host-7"; it has host-1/)
})

test(
  'down removes a lab whose processes were killed and whose directory is missing',
  { skip },
  async () => {
    await using own = await ownMachine()
    const { dir, lab, machine } = own
    const before = await own.traces()
    const { hosts } = (await lab('up', '--dir', join(dir, 'a'), '--hosts', '2')).report()
    await machine.run(['kill', '-9', String(hosts[0]?.init), String(hosts[1]?.libvirt?.pid)])
    await rm(join(dir, 'a'), { recursive: true })
    assert.equal((await lab('down', '--dir', join(dir, 'a'))).code, 0)
    assert.deepEqual(await own.traces(), before)
  },
)

test('down removes what a killed up has started, at any moment', { skip }, async () => {
  await using own = await ownMachine()
  const { dir, lab, machine } = own
  const before = await own.traces()
  // Each moment is visible from outside: the switch, a first process, its network's name, its libvirtd.
  const host = join(dir, 'a', 'host-1')
  const moments = [
    'ls /run/netns/skerry-*',
    `grep -qs ${HOST_MARK}=${host} /proc/[0-9]*/environ`,
    'ls /run/netns/skerry-*-host-1',
    `test -e ${host}/run/libvirtd.pid`,
  ]
  for (const moment of moments) {
    const command = [process.execPath, MAIN, 'up', '--dir', join(dir, 'a')]
    const up = machine.spawn(command, { stdio: 'ignore' })
    const watch = `for i in $(seq 20000); do ${moment} >/dev/null 2>&1 && exit; sleep 0.002; done; exit 1`
    assert.equal((await machine.run(['sh', '-c', watch])).code, 0, `never seen: ${moment}`)
    up.kill('SIGKILL')
    await until('up should be gone', () => up.exitCode !== null || up.signalCode !== null)
    const down = await lab('down', '--dir', join(dir, 'a'))
    assert.equal(down.code, 0, down.stderr)
    assert.deepEqual(await own.traces(), before, `after: ${moment}`)
  }
})

test(
  'vmd is started on every host, restarts with its power, and stops with the lab',
  { skip },
  async () => {
    await using own = await ownMachine()
    const { dir, lab, machine } = own
    const before = await own.traces()
    const up = await lab('up', '--dir', join(dir, 'v'), '--vmd')
    assert.equal(up.code, 0, up.stderr)
    const [first] = up.report().hosts
    assert.equal(first?.vmd?.url, 'http://127.0.0.1:8080')
    const ask = ['ip', 'netns', 'exec', first.netns, 'curl', '-s', 'http://127.0.0.1:8080/api/vms']
    assert.equal((await machine.run(ask)).stdout, '[]')
    await lab('power-cut', '--dir', join(dir, 'v'), 'host-1')
    const on = await lab('power-on', '--dir', join(dir, 'v'), 'host-1')
    assert.notEqual(on.report().hosts[0]?.vmd?.pid, undefined, on.stderr)
    assert.equal((await machine.run(ask)).stdout, '[]')
    assert.equal((await lab('down', '--dir', join(dir, 'v'))).code, 0)
    assert.deepEqual(await own.traces(), before)
  },
)

test('unsupported and invalid options are rejected before anything is done', async () => {
  const cases: [words: string[], message: RegExp][] = [
    [['up', '--dir', 'D', '--console'], /--console requires --cells/],
    [['up', '--dir', 'D', '--original'], /--original requires --cells/],
    [['up', '--dir', 'D', '--workflow'], /--workflow requires --cells/],
    [['up', '--dir', 'D', '--s3'], /--s3 is not supported/],
    [['down', '--dir', 'D', '--vmd'], /--vmd is valid with "up" only/],
    [['down', '--dir', 'D', '--network'], /--network is valid with "up" only/],
    [['up', '--dir', 'D', '--cells', '0'], /--cells must be a number from 1 to 20/],
    [['status', '--dir', 'D', '--cells', '2'], /--cells is valid with "up" only/],
    [['up'], /--dir is missing/],
    [['up', '--dir', 'D', '--hosts', '0'], /from 1 to 200/],
    [['power-cut', '--dir', 'D'], /name one host/],
    [['sideways', '--dir', 'D'], /unknown command: sideways/],
  ]
  await Promise.all(
    cases.map(async ([words, message]) => {
      const { code, stderr, stdout } = await attempt([process.execPath, MAIN, ...words])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, message)
    }),
  )
})
