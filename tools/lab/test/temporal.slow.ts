// Goal: tests get a Temporal server that fails like one in production. Method: kill it, and drop its database.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { Connection } from '@temporalio/client'

import {
  reasonWithoutRoot,
  reasonWithoutTemporal,
  startPostgres,
  startTemporal,
} from '../src/index.ts'
import { isAlive } from '../src/system/processes.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false

test(
  'a Temporal server dies, restarts at the same address, and loses its data only with its database',
  { skip, timeout: 180_000 },
  async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'lab-temporal-'))
    try {
      await using postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
      const began = performance.now()
      await using temporal = await startTemporal(join(dir, 'temporal'), postgres)
      t.diagnostic(`up with its tables after ${Math.round(performance.now() - began)} ms`)
      const { address, pid, namespace } = temporal
      const knows = async () => {
        const connection = await Connection.connect({ address })
        try {
          await connection.workflowService.describeNamespace({ namespace })
          return true
        } catch {
          return false
        } finally {
          await connection.close()
        }
      }
      assert.equal(await knows(), true)

      await temporal.kill9()
      assert.equal(isAlive(pid), false)
      assert.throws(() => temporal.pid, /restart it first/)
      await temporal.restart()
      assert.deepEqual([temporal.address, await knows()], [address, true])
      await using same = await startTemporal(join(dir, 'temporal'), postgres)
      assert.equal(same.pid, temporal.pid, 'a running server is reused')

      await temporal.dropDatabase()
      assert.equal(await knows(), false)
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  },
)
