import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { digestOf, type ArchivedWorkflow } from '../src/archive/manifest.ts'
import { readArchive } from '../src/archive/read.ts'
import { archiveFileName, writeArchive } from '../src/archive/write.ts'
import { head } from './subset-examples.ts'
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

test('what is written is read back', async () => {
  assert.deepEqual(await readArchive(await writeArchive(workflow)), { workflow })
  const plain = { ...workflow, form: undefined }
  assert.deepEqual(await readArchive(await writeArchive(plain)), { workflow: plain })
})

test('the same workflow gives the same bytes: twice, in other time zones, in another order', async () => {
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

test('the bytes are these, on every release', async () => {
  // If this fails, archives of older servers have other bytes than ours: raise the manifest's format instead.
  assert.equal(
    digestOf(await writeArchive(workflow)),
    '6ad0bcdda1ec91f6681c05ad48172cbf52990ecfcc4b343395eccf459bf577d0',
  )
})

test('export, import and export again are equal byte by byte', async () => {
  const first = await writeArchive(workflow)
  const read = await readArchive(first)
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

test('what other tools pack is read', async () => {
  const python = `import sys,io,zipfile
source=zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
out=io.BytesIO()
with zipfile.ZipFile(out,'w',zipfile.ZIP_DEFLATED) as z:
  for n in source.namelist(): z.writestr(n, source.read(n))
sys.stdout.buffer.write(out.getvalue())`
  const { stdout } = spawnSync('python3', ['-c', python], { input: await writeArchive(workflow) })
  assert.deepEqual(await readArchive(stdout), { workflow })
})

test('a text that was changed after the export is told', async () => {
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
  const read = await readArchive(changed)
  assert.ok('complaints' in read)
  assert.deepEqual(
    read.complaints.map(({ entry }) => entry),
    ['workflow.yaml', 'input-form.json'],
  )
  assert.match(read.complaints[0]?.message ?? '', /not as the manifest says/)
})

test('nothing is in it but what its author wrote and what it is called', async () => {
  // Whatever else the caller's object has: an owner, a grant, the values of a run.
  const more = { ...workflow, owner: 'root', input: { password: 's3cret' }, grant: 'g-1' }
  const bytes = await writeArchive(more)
  assert.deepEqual(bytes, await writeArchive(workflow))
  assert.ok(!bytes.includes('s3cret'))
})

test('an export is called after its workflow', () => {
  assert.equal(archiveFileName('Nightly snapshot'), 'Nightly-snapshot.workflow')
  assert.equal(archiveFileName('../"x"\r\ny'), 'x-y.workflow')
  assert.equal(archiveFileName('日本'), 'workflow.workflow')
})
