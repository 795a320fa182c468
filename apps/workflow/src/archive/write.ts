import { buffer } from 'node:stream/consumers'

import { ZipFile } from 'yazl'

import { manifestOf, sortedJson, type ArchivedWorkflow } from './manifest.ts'

/**
 * Writes an archive. Equal workflows give equal bytes, also years later: fixed order of entries, one fixed time (noon of the first
 * day that zip can express, in the machine's local time), and no compression, because compressors change.
 */
export async function writeArchive(workflow: ArchivedWorkflow): Promise<Buffer> {
  const text = Buffer.from(workflow.text)
  const form = workflow.form === undefined ? undefined : Buffer.from(sortedJson(workflow.form))
  const manifest = Buffer.from(sortedJson(manifestOf(workflow, text, form)))
  const zip = new ZipFile()
  const add = (content: Buffer, name: string) => {
    zip.addBuffer(content, name, {
      mtime: new Date(1980, 0, 1, 12),
      forceDosTimestamp: true,
      mode: 0o100644,
      compress: false,
    })
  }
  add(text, 'workflow.yaml')
  if (form !== undefined) add(form, 'input-form.json')
  add(manifest, 'manifest.json')
  zip.end()
  return buffer(zip.outputStream)
}
