import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { guestImage, startHost, type LabHost } from '@skerry/lab'

import { curlOn } from './curl.ts'

export interface VmdPlace extends AsyncDisposable {
  readonly host: LabHost
  /** A directory outside of the host's own, visible on the host and here. */
  readonly dir: string
}

/** A lab host with vmd and the small guest as its template. */
export async function startVmdPlace(): Promise<VmdPlace> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'vmd-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host') }))
  await host.startVmd()
  const { post } = curlOn(() => host)
  const made = await post('/api/templates?default', { file: await guestImage('small') })
  assert.equal(made.status, 201, made.text)
  const all = stack.move()
  return { host, dir, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
