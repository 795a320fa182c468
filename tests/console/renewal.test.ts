// Goal: a console renews its machine certificate every day and its server certificate in time, and does not replace certificates
// of other issuers. Method: the real machine API of a cell over a real PostgreSQL, and certificates that were issued some time
// ago.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { whoIsPeer } from '@skerry/host-api'
import { reasonWithoutRoot } from '@skerry/lab'

import { keepConsoleMachine } from '../../apps/cloud/src/identity/console-machines.ts'
import { makeControl, makeServer, type Issuers } from '../../apps/cloud/src/identity/issuers.ts'
import { readCloud } from '../../apps/cloud/src/identity/machines.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { issuing, openTestMachineApi } from '../../apps/cloud/test/machine-api.ts'
import { openIdentity } from '../../apps/console/src/identity.ts'
import { makeAuthority } from './authority.ts'

const skip = reasonWithoutRoot('cloud') ?? false
const DAY_MS = 24 * 60 * 60 * 1000
const ago = (days: number) => ({
  ...issuing,
  clock: { now: () => new Date(Date.now() - days * DAY_MS) },
})

test(
  'the certificates of a console are renewed in time, by a cell, without a restart',
  { skip },
  async () => {
    await using postgres = await startDatabases()
    await using cloud = await openCloudDatabase(postgres)
    await using api = await openTestMachineApi(cloud.db)
    await using dir = await mkdtempDisposable(join(tmpdir(), 'skerry-renewal-'))
    const { id, epoch } = await readCloud(cloud.db)
    await keepConsoleMachine(cloud.db, { name: 'k1', host: 'console.example', login: 'login' })
    const issuers = api.identity.issuers as Issuers
    const name = { cloud: id, role: 'console', id: 'k1', epoch } as const
    const at = (file: string) => join(dir.path, file)
    const certOf = async (file: string) => new X509Certificate(await readFile(at(file), 'utf8'))
    await writeFile(at('control.pem'), api.identity.trusted.control)
    await writeFile(at('hosts.pem'), api.identity.trusted.hosts)
    const logged: string[] = []
    let renewed = 0
    /** Checks once, as it does every ten minutes. */
    const lookOnce = async (): Promise<void> => {
      const stop = new AbortController()
      const kept = await openIdentity({
        config: { identity: dir.path, renewFrom: [{ address: '127.0.0.1', port: api.port }] },
        clock: { now: () => new Date() },
        pause: async () => stop.abort(),
        log: (message) => void logged.push(message),
        renewed: () => (renewed += 1),
      })
      await kept.keep(stop.signal)
      const [own] = kept.current().toHosts.cert.split(/(?<=-----END CERTIFICATE-----\n)/)
      assert.equal(
        new X509Certificate(own ?? '').serialNumber,
        (await certOf('console.pem')).serialNumber,
      )
    }

    await writeFile(at('console.pem'), await makeControl(issuers, name, ago(2)))
    await writeFile(at('server.pem'), await makeServer(issuers, ['console.example'], ago(31)))
    const [first, shown] = [await certOf('console.pem'), await certOf('server.pem')]
    await lookOnce()
    const second = await certOf('console.pem')
    assert.notEqual(second.serialNumber, first.serialNumber)
    assert.deepEqual(whoIsPeer(second), whoIsPeer(first))
    const later = await certOf('server.pem')
    assert.notEqual(later.serialNumber, shown.serialNumber)
    assert.equal(later.subjectAltName, 'DNS:console.example')
    assert.deepEqual([renewed, logged], [1, ['the certificate of this machine was renewed']])

    // Fresh ones stay.
    await lookOnce()
    assert.equal((await certOf('console.pem')).serialNumber, second.serialNumber)
    assert.equal(renewed, 1)

    // A publicly trusted certificate comes from elsewhere, and is not replaced.
    const { key, cert } = await (await makeAuthority()).server('console.example')
    await writeFile(at('server.pem'), cert + key)
    await writeFile(at('console.pem'), await makeControl(issuers, name, ago(2)))
    await lookOnce()
    assert.equal((await certOf('server.pem')).serialNumber, new X509Certificate(cert).serialNumber)
  },
)
