import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { head } from '../../../packages/serverless-workflow/test/subset-examples.ts'
import { digestOf, type ArchivedWorkflow } from '../src/archive/manifest.ts'
import { readArchive } from '../src/archive/read.ts'
import { writeArchive } from '../src/archive/write.ts'
import { makeZip } from './zip-maker.ts'

const workflow: ArchivedWorkflow = {
  id: '0198c0de-0000-7000-8000-000000000001',
  name: 'Nightly snapshot',
  description: 'Each night.\nOf a vApp.',
  folder: 'Library/Backup',
  version: '1.0.0',
  tags: ['kind=nightly', 'shipped'],
  text: `${head()}# a comment, Ünïcödé 😀\ndo: []\n`,
  form: { type: 'object', properties: { vapp: { type: 'string' }, keep: { type: 'integer' } } },
}

test('a written archive can be read back', async () => {
  assert.deepEqual(readArchive(await writeArchive(workflow)), { workflow })
  const plain = { ...workflow, form: undefined }
  assert.deepEqual(readArchive(await writeArchive(plain)), { workflow: plain })
})

test('an export is deterministic: repeated, in other time zones, with another order of keys', async () => {
  const first = await writeArchive(workflow)
  const zone = process.env['TZ']
  for (const other of ['Pacific/Kiritimati', 'America/St_Johns', 'Africa/Monrovia', 'UTC']) {
    process.env['TZ'] = other
    assert.deepEqual(await writeArchive(workflow), first, other)
  }
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
  const turned = Object.fromEntries(
    Object.entries(workflow).toReversed(),
  ) as unknown as ArchivedWorkflow
  const form = {
    properties: { keep: { type: 'integer' }, vapp: { type: 'string' } },
    type: 'object',
  }
  const again = await writeArchive({
    ...turned,
    form,
    tags: ['shipped', 'kind=nightly', 'shipped'],
  })
  assert.deepEqual(again, first)
})

test('the bytes of an export are the same in every release', async () => {
  // If this fails, archives of older servers differ from ours: raise the manifest's format instead.
  assert.equal(
    digestOf(await writeArchive(workflow)),
    '6ad0bcdda1ec91f6681c05ad48172cbf52990ecfcc4b343395eccf459bf577d0',
  )
})

test('export, import and export again is byte-identical', async () => {
  const first = await writeArchive(workflow)
  const read = readArchive(first)
  assert.ok('workflow' in read)
  assert.deepEqual(await writeArchive(read.workflow), first)
})

test('other tools read it', async () => {
  const python = `import sys,io,zipfile,json
z=zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
print(json.dumps([z.namelist(), z.read('workflow.yaml').decode()]))`
  const { stdout, stderr } = spawnSync('python3', ['-c', python], {
    input: await writeArchive(workflow),
  })
  assert.equal(stderr.toString(), '')
  assert.deepEqual(JSON.parse(stdout.toString()), [
    ['workflow.yaml', 'input-form.json', 'manifest.json'],
    workflow.text,
  ])
})

test('archives of other tools are accepted', async () => {
  const python = `import sys,io,zipfile
source=zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
out=io.BytesIO()
with zipfile.ZipFile(out,'w',zipfile.ZIP_DEFLATED) as z:
  for n in source.namelist(): z.writestr(n, source.read(n))
sys.stdout.buffer.write(out.getvalue())`
  const { stdout } = spawnSync('python3', ['-c', python], { input: await writeArchive(workflow) })
  assert.deepEqual(readArchive(stdout), { workflow })
})

test('a text changed after the export is detected', async () => {
  const bytes = await writeArchive(workflow)
  const manifest = bytes.subarray(
    bytes.indexOf('{\n  "description"'),
    bytes.indexOf('PK\u0001\u0002'),
  )
  const changed = makeZip([
    { name: 'workflow.yaml', content: `${workflow.text}#` },
    { name: 'input-form.json', content: JSON.stringify(workflow.form) },
    { name: 'manifest.json', content: manifest },
  ])
  const read = readArchive(changed)
  assert.ok('complaints' in read)
  assert.deepEqual(
    read.complaints.map(({ entry }) => entry),
    ['workflow.yaml', 'input-form.json'],
  )
  assert.match(read.complaints[0]?.message ?? '', /digest mismatch with the manifest/)
})

test('an archive contains only the definition and its metadata', async () => {
  // The caller's object may have more: an owner, a grant, the values of a run.
  const more = { ...workflow, owner: 'root', input: { password: 's3cret' }, grant: 'g-1' }
  const bytes = await writeArchive(more)
  assert.deepEqual(bytes, await writeArchive(workflow))
  assert.ok(!bytes.includes('s3cret'))
})
