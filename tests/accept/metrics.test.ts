// Goal: an operator's Prometheus sees every server of a cloud, and alerts when a host is lost. Method: Debian's prometheus
// scrapes a lab created by the product's own commands, with the rules of the package and shortened times.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { reasonToSkip, reasonWithoutTemporal, startLab, until, type Lab } from '@skerry/lab'
import { healthPorts, measuredServers, metricTable } from '@skerry/service'

const run = promisify(execFile)
const skip =
  reasonToSkip('host', 'small', 'cloud', 'monitor') ?? (await reasonWithoutTemporal()) ?? false
const RULES = join(import.meta.dirname, '../../tools/package/prometheus/skerry.rules.yml')
const PORT = 9090
const WAIT_MS = 120_000

// A lab has no network server of its own; tests/network/network-server.test.ts compares its metrics.
const servers = measuredServers.filter((server) => server !== 'network')

let lab: Lab
const stack = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'metrics-')))
  lab = stack.use(
    await startLab({ dir: join(dir, 'lab'), hosts: 1, cells: 1, console: true, workflows: 1 }),
  )
  await startPrometheus(dir)
})
after(() => stack.disposeAsync())

/** In the network of the lab's servers: their listeners are on loopback there. */
const inLab = (...command: string[]) => [
  'nsenter',
  `--net=/run/netns/${lab.netns}`,
  '--',
  ...command,
]

async function get(url: string): Promise<string> {
  const [program = '', ...words] = inLab('curl', '-s', '--max-time', '60', url)
  return (await run(program, words, { maxBuffer: 16 * 1024 * 1024 })).stdout
}

async function startPrometheus(dir: string): Promise<void> {
  const rules = (await readFile(RULES, 'utf8')).replaceAll(/for: \d+m/g, 'for: 2s')
  await writeFile(join(dir, 'rules.yml'), rules)
  const targets = servers.map((server) => `"127.0.0.1:${healthPorts[server]}"`)
  await writeFile(
    join(dir, 'prometheus.yml'),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${join(dir, 'rules.yml')}]
scrape_configs:
  - job_name: skerry
    static_configs: [{ targets: [${targets.join()}] }]
`,
  )
  const [program = '', ...words] = inLab(
    'prometheus',
    `--config.file=${join(dir, 'prometheus.yml')}`,
    '--log.level=error',
    `--storage.tsdb.path=${join(dir, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${PORT}`,
  )
  const prometheus = spawn(program, words, { stdio: 'ignore' })
  stack.defer(async () => {
    const ended = once(prometheus, 'exit')
    if (prometheus.exitCode === null && prometheus.kill('SIGTERM')) await ended
  })
}

interface Alert {
  readonly labels: Readonly<Record<string, string>>
  readonly state: 'pending' | 'firing'
  readonly annotations: Readonly<Record<string, string>>
}

const api = async <T>(path: string): Promise<T | undefined> => {
  const said = await get(`http://127.0.0.1:${PORT}/api/v1/${path}`).catch(() => '')
  // While it starts it answers in plain text.
  return said.startsWith('{') ? (JSON.parse(said) as { data?: T }).data : undefined
}
const alerts = async () => (await api<{ alerts: readonly Alert[] }>('alerts'))?.alerts ?? []

test(
  'every server is scraped, and has the metrics that the table lists for it',
  { skip },
  async () => {
    const health = async () => {
      const found = await api<{
        activeTargets: readonly { health: string; scrapeUrl: string; lastError: string }[]
      }>('targets?state=active')
      return found?.activeTargets ?? []
    }
    let seen = await health()
    const areUp = async () => {
      seen = await health()
      return seen.length === servers.length && seen.every((each) => each.health === 'up')
    }
    await until('all targets are up', areUp, WAIT_MS).catch((error: unknown) => {
      throw new Error(JSON.stringify(seen), { cause: error })
    })
    for (const server of servers) {
      const text = await get(`http://127.0.0.1:${healthPorts[server]}/metrics`)
      const shown = new Set(
        [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`),
      )
      for (const [name, { of, type }] of Object.entries(metricTable)) {
        // Request metrics exist after the first request.
        const isLazy = name === 'skerry_requests_total' || name === 'skerry_request_seconds'
        if (isLazy) continue
        const isOwn = (of as readonly string[]).includes(server)
        assert.equal(shown.has(`${name} ${type}`), isOwn, `${name} of ${server}`)
      }
    }
  },
)

test('every server of the lab is alive and ready', { skip }, async () => {
  for (const server of servers) {
    const at = `http://127.0.0.1:${healthPorts[server]}`
    assert.deepEqual(JSON.parse(await get(`${at}/healthz`)), { health: 'ok' }, server)
    const isReady = async () => (await get(`${at}/readyz`)).includes('"ready":true')
    await until(`${server} is ready`, isReady, WAIT_MS)
  }
})

/** They have samples only while something fails; the first test has seen their types. */
const ofFailures: ReadonlySet<string> = new Set(['skerry_webhook_failing_seconds'])

test(
  'every metric that a rule uses is scraped, and no alert fires while everything works',
  { skip },
  async () => {
    const rules = await readFile(RULES, 'utf8')
    const named = new Set([...rules.matchAll(/\b(skerry_[a-z_]+)\b/g)].map(([, name = '']) => name))
    assert.ok(named.size >= 10)
    // One request, so that there is something to count.
    const [tenant] = lab.cloud?.tenants ?? []
    assert.ok(lab.cloud && tenant)
    await run('curl', ['-s', '--cacert', lab.cloud.ca, `${lab.cloud.url}/api/versions`])
    for (const name of named.difference(ofFailures)) {
      const isThere = async () => {
        const found = await api<{ result: readonly unknown[] }>(`query?query=${name}`)
        return (found?.result.length ?? 0) > 0
      }
      await until(`${name} is in the scrape`, isThere, WAIT_MS)
    }
    // Alerts that fired during the start of the lab resolve by themselves.
    let fired: readonly Alert[] = []
    const isQuiet = async () => {
      fired = (await alerts()).filter(({ state }) => state === 'firing')
      return fired.length === 0
    }
    await until('no alert fires', isQuiet, WAIT_MS).catch((error: unknown) => {
      throw new Error(JSON.stringify(fired), { cause: error })
    })
  },
)

test('a host that is powered off triggers its alert', { skip }, async () => {
  const [host] = lab.hosts
  assert.ok(host)
  const unheard = async () =>
    (await alerts()).find(
      ({ labels, state }) => labels['alertname'] === 'SkerryHostUnheard' && state === 'firing',
    )
  await host.powerCut()
  const { labels } = await until('the alert fires', unheard, WAIT_MS)
  assert.equal(labels['host'], host.name)
})
