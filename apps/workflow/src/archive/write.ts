import { buffer } from 'node:stream/consumers'

import { ZipFile } from 'yazl'

import { manifestOf, sortedJson, type ArchivedWorkflow } from './manifest.ts'

/**
 * The same workflow gives the same bytes, today and after years: names in one order, one time for all (noon of the first day that
 * zip knows, by whatever clock the machine has), and nothing compressed, because compressors change.
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

/** What an export is called: `NAME.workflow`, in letters that every file system has. */
export const archiveFileName = (name: string): string =>
  `${name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'workflow'}.workflow`
