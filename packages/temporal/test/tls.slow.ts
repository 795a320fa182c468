// Goal: only a holder of a certificate of the right issuer can call Temporal, and a renewed certificate is used without a restart.
// Method: a real Temporal server that requires certificates, made by openssl; then everything is issued again by another issuer.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import {
  reasonWithoutRoot,
  reasonWithoutTemporal,
  startIssuer,
  startPostgres,
  startTemporal,
} from '@skerry/lab'
import { temporalCertificates } from '@skerry/site'

import { certificatesFor, connectTemporal, runWorker } from '../src/index.ts'
import { makeActivities } from './activities.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const timeout = 240_000
const WORKFLOWS = `${import.meta.dirname}/workflows/index.ts`

/** Longer than a process needs that ends by itself. */
const EXIT_MS = 5000
// The worker with the old certificates cannot end in time while its server is down. Its shutdown is then forced, and the SDK leaves a
// thread behind, which would keep this process for ever.
after(() => void setTimeout(() => process.exit(), EXIT_MS).unref())

/** A new issuer: writes the server's certificate into a directory, and returns a client certificate. */
async function issueAll(opened: AsyncDisposableStack, name: string, directory: string) {
  const issuer = opened.use(await startIssuer(name))
  const server = await issuer.issue('DNS:temporal.skerry')
  const client = await issuer.issue('URI:skerry://lab/cell/a')
  const { certificate, key, clients } = temporalCertificates
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, certificate), server.cert)
  await writeFile(join(directory, key), server.key)
  await writeFile(join(directory, clients), issuer.cert)
  return { ...client, ca: issuer.cert, other: await issuer.issue('DNS:another.example') }
}

test(
  'Temporal answers holders of a certificate of its issuer, and clients and workers use renewed certificates',
  { skip, timeout },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { path: dir } = opened.use(await mkdtempDisposable(join(tmpdir(), 'temporal-tls-')))
    const certificates = join(dir, 'certificates')
    let own = await issueAll(opened, 'first', certificates)
    const postgres = opened.use(await startPostgres(join(dir, 'postgres'), { durable: false }))
    const server = opened.use(
      await startTemporal(join(dir, 'temporal'), postgres, { certificates }),
    )
    const { address, namespace } = server
    const describe = async (tls: Parameters<typeof connectTemporal>[0]['tls']) => {
      await using client = connectTemporal({ address, namespace, tls, callTimeoutMs: 20_000 })
      return await client.within(({ workflowService }) =>
        workflowService.describeNamespace({ namespace }),
      )
    }

    // Rejected: plain, without a certificate, with one of another issuer; and a server with another name.
    await using stranger = await startIssuer('stranger')
    const forged = await stranger.issue('URI:skerry://lab/cell/a')
    const trusting = {
      serverNameOverride: 'temporal.skerry',
      serverRootCACertificate: Buffer.from(own.ca),
    }
    const pairOf = ({ cert, key }: { cert: string; key: string }) => ({
      clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) },
    })
    for (const tls of [undefined, trusting, { ...trusting, ...pairOf(forged) }])
      await assert.rejects(describe(tls), { name: 'Fault' })
    await assert.rejects(
      describe({ ...trusting, serverNameOverride: 'another.example', ...pairOf(own) }),
      { name: 'Fault' },
    )
    assert.ok(await describe({ ...trusting, ...pairOf(own) }))

    // Renewed: everything is issued by another issuer, as after years.
    const tls = certificatesFor(undefined, () => own)
    await using temporal = connectTemporal({ address, namespace, tls, callTimeoutMs: 20_000 })
    await using worker = runWorker({
      address,
      namespace,
      tls,
      certificateMs: 200,
      taskQueue: 'renewed',
      workflows: { path: WORKFLOWS },
      activities: makeActivities(() => undefined),
      say: () => undefined,
    })
    const runs = async () => {
      const start = { taskQueue: 'renewed', workflowId: randomUUID(), args: ['a'] }
      const run = await temporal.within((client) => client.workflow.start('twoSteps', start))
      return temporal.within(() => run.result(), 60_000)
    }
    await worker.ready
    assert.deepEqual(await runs(), ['quick a', 'long a'])
    await server.kill9()
    own = await issueAll(opened, 'second', certificates)
    await using again = await startTemporal(join(dir, 'temporal'), postgres, { certificates })
    assert.ok(again.isRunning)
    assert.deepEqual(await runs(), ['quick a', 'long a'])
  },
)
