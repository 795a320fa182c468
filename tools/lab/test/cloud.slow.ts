// Goal: one command starts a whole cloud, prints its object for other programs, and removes all of it again. Method: the lab runs on a
// separate lab host: everything that is new there afterwards belongs to the lab.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal, until } from '../src/index.ts'
import { MAIN, ownMachine } from './own-machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false

/** A machine on which every command of the lab succeeds. */
async function started() {
  const own = await ownMachine()
  return {
    ...own,
    lab: async (...args: string[]) => {
      const { code, stderr, report } = await own.lab(...args)
      assert.equal(code, 0, stderr)
      return report()
    },
  }
}

test(
  'a cloud of two hosts, two cells and two consoles comes up, is reported, loses a host, and leaves no trace',
  { skip, timeout: 600_000 },
  async (t) => {
    await using own = await started()
    const { lab, machine } = own
    const dir = join(own.dir, 'c')
    const before = await own.traces()
    const began = performance.now()
    const up = await lab(
      'up',
      '--dir',
      dir,
      '--hosts',
      '2',
      '--cells',
      '2',
      '--console',
      '--original',
    )
    t.diagnostic(`up after ${Math.round(performance.now() - began)} ms`)
    assert.deepEqual(Object.keys(up), ['dir', 'hosts', 'postgres', 'temporal', 'cloud', 'console'])
    const { hosts, postgres, temporal, cloud, console: screens } = up
    assert.ok(postgres && temporal && cloud && screens)
    assert.deepEqual(Object.keys(postgres), ['url', 'pid'])
    assert.deepEqual(Object.keys(temporal), ['address', 'namespace', 'certificates', 'pid'])
    assert.deepEqual(Object.keys(cloud), ['url', 'original', 'ca', 'cells', 'admin', 'tenants'])
    assert.deepEqual(Object.keys(screens), ['url', 'page', 'pids', 'consoles'])
    for (const server of [...cloud.cells, ...screens.consoles]) {
      assert.deepEqual(Object.keys(server), ['url', 'pid', 'log'])
    }
    assert.deepEqual(
      screens.pids,
      screens.consoles.map(({ pid }) => pid),
    )
    assert.notEqual(new URL(screens.url).hostname, new URL(cloud.url).hostname)
    assert.deepEqual(Object.keys(cloud.admin), ['org', 'user', 'password'])
    const keys = ['org', 'user', 'password', 'vdc', 'template']
    assert.deepEqual(cloud.tenants.map(Object.keys), [keys, keys])
    assert.deepEqual([hosts.length, cloud.cells.length], [2, 2])
    assert.ok(hosts.every(({ vmd }) => vmd !== undefined))
    assert.deepEqual(await lab('status', '--dir', dir), up)
    assert.deepEqual(JSON.parse(await readFile(join(dir, 'lab.json'), 'utf8')), up)
    assert.deepEqual(await lab('up', '--dir', dir, '--cells', '2'), up, 'running parts are kept')

    const logIn = async (url: string, { user, org, password }: typeof cloud.admin) => {
      const word = [
        '-u',
        `${user}@${org}:${password}`,
        '-H',
        'Accept: application/*+xml;version=5.1',
      ]
      const show = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', cloud.ca]
      const requested = ['curl', '-X', 'POST', ...show, ...word, `${url}/api/sessions`]
      return (await machine.run(requested)).stdout
    }
    const people: readonly (typeof cloud.admin)[] = [cloud.admin, ...cloud.tenants]
    for (const { url } of [cloud, { url: cloud.original ?? '' }, ...cloud.cells]) {
      for (const who of people) assert.equal(await logIn(url, who), '200')
    }
    const rows = await machine.run(['psql', postgres.url, '-Atc', 'select count(*) from host'])
    assert.equal(rows.stdout.trim(), '2')

    const pageAt = async (url: string) => {
      const show = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', cloud.ca]
      return (await machine.run(['curl', ...show, url])).stdout
    }
    assert.equal(await pageAt(screens.page), '200')
    // Until it has ended, the kernel accepts connections for it.
    const kill = async (pid = 0) => {
      await machine.run(['kill', '-9', String(pid)])
      const isGone = async () => (await machine.run(['test', '-e', `/proc/${pid}`])).code !== 0
      await until(`${pid} should be gone`, isGone)
    }
    await kill(screens.pids[0])
    for (const url of [screens.page, screens.page]) assert.equal(await pageAt(url), '200')
    const less = (await lab('status', '--dir', dir)).console
    assert.deepEqual(
      [less?.pids, 'pid' in (less?.consoles[0] ?? {})],
      [screens.pids.slice(1), false],
    )

    // A server that is down is reported without its pid, and another up starts it again.
    await kill(cloud.cells[0]?.pid)
    const down = await lab('status', '--dir', dir)
    assert.deepEqual(Object.keys(down.cloud?.cells[0] ?? {}), ['url', 'log'])
    assert.equal(await logIn(cloud.url, cloud.admin), '200', 'the balancer skips it')
    const again = await lab('up', '--dir', dir, '--cells', '2')
    assert.equal(await logIn(again.cloud?.cells[0]?.url ?? '', cloud.admin), '200')

    const off = await lab('power-cut', '--dir', dir, 'host-1')
    assert.equal(off.hosts[0]?.vmd, undefined)
    assert.ok((await lab('power-on', '--dir', dir, 'host-1')).hosts[0]?.vmd)

    await lab('down', '--dir', dir)
    const memory = await machine.run(['ipcs', '-m', '-p'])
    const makers = memory.stdout.split('\n').map((line) => line.trim().split(/\s+/)[2])
    assert.ok(!makers.includes(String(postgres.pid)), memory.stdout)
    assert.deepEqual(await own.traces(), before)
  },
)

test(
  'down removes what a killed up with cells has started, at any moment',
  { skip, timeout: 600_000 },
  async () => {
    await using own = await started()
    const { lab, machine } = own
    const dir = join(own.dir, 'c')
    const before = await own.traces()
    const command = [process.execPath, MAIN, 'up', '--dir', dir, '--cells', '1']
    // The servers start in this order: the window, PostgreSQL, Temporal, the cells.
    for (const seen of [
      'window/open',
      'postgres/pg/postmaster.pid',
      'temporal/temporal.log',
      'cell-1/cell.log',
    ]) {
      const up = machine.spawn(command, { stdio: 'ignore' })
      await until(`${seen} is there`, () => existsSync(join(dir, seen)), 200_000)
      up.kill('SIGKILL')
      await until('up should be gone', () => up.exitCode !== null || up.signalCode !== null)
      if (seen === 'cell-1/cell.log') {
        const again = await machine.run(command)
        assert.match(again.stderr, /is incomplete: take the lab down and start again/)
      }
      await lab('down', '--dir', dir)
      assert.deepEqual(await own.traces(), before, `after: ${seen}`)
    }
  },
)
