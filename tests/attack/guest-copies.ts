// Running copies of one guest. Each continues from the memory of the first, under its own name: twenty guests with a program in
// each cost a restore from a file, not a boot.
import assert from 'node:assert/strict'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { LabHost } from '@skerry/lab'

import type { Curl } from '../accept/curl.ts'

/** The file with the memory of a suspended domain, as the machine sees it. */
const saveOf = (host: LabHost, id: string) => join(host.dir, `var/qemu/save/local-${id}.save`)
/** libvirt's header before the definition; the definition's length is its second field. */
const HEADER_BYTES = 92
const LENGTH_AT = 20

/** The parts of a definition that differ between domains. All have the same length in every domain. */
async function marksOf(host: LabHost, id: string): Promise<readonly string[]> {
  const { stdout } = await host.run(['virsh', 'dumpxml', '--inactive', `local-${id}`])
  const mark = (form: RegExp) => form.exec(stdout)?.[1] ?? assert.fail(`${form} in ${stdout}`)
  return [
    mark(/<uuid>([^<]+)</),
    mark(/<mac address='([^']+)'/),
    mark(/incarnation="?'?([^"' ]+)/),
    id,
  ]
}

/** The memory of a suspended guest, to be copied. */
export async function keepMemory(host: LabHost, id: string): Promise<Memory> {
  return { marks: await marksOf(host, id), bytes: await readFile(saveOf(host, id)) }
}

export interface Memory {
  readonly marks: readonly string[]
  readonly bytes: Buffer
}

/** Creates a VM with this id, which must be as long as the first one's, and resumes it from that memory. */
export async function startCopy(
  host: LabHost,
  { post, patch }: Curl,
  memory: Memory,
  id: string,
  memoryMiB: number,
): Promise<void> {
  const made = await post('/api/vms', { id, memoryMiB })
  assert.equal(made.status, 201, made.text)
  const marks = await marksOf(host, id)
  const bytes = Buffer.from(memory.bytes)
  const end = HEADER_BYTES + bytes.readUInt32LE(LENGTH_AT)
  let definition = bytes.toString('latin1', HEADER_BYTES, end)
  for (const [n, mark] of memory.marks.entries()) {
    assert.equal(mark.length, marks[n]?.length, `${mark} and ${marks[n]}`)
    definition = definition.replaceAll(mark, marks[n] ?? '')
  }
  bytes.write(definition, HEADER_BYTES, 'latin1')
  await writeFile(saveOf(host, id), bytes, { mode: 0o600 })
  await chmod(saveOf(host, id), 0o600)
  const started = await patch(`/api/vms/power/${id}`, 'on')
  assert.equal(started.status, 200, started.text)
}
