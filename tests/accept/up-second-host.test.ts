// Goal: a second machine joins a cloud that runs on one machine. Method: two lab machines; on the second the line that the
// invitation printed; then a VM, by the lines of docs/guides/one-machine.md, while the first machine is disabled.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, reasonWithoutTemporal, startLab, until } from '@skerry/lab'

import { blocksIn } from './doc-blocks.ts'
import { onMachine, ROOT } from './up/machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const PAGE = join(ROOT, 'docs/guides/one-machine.md')
const CONFIG = '/var/lib/skerry/site/cloud/cloud.json'
const SEEN_MS = 180_000

interface Row {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly enabled: boolean
  readonly seen: boolean
}

test('a second machine joins, and gets the next VM', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'two-'))
  await using lab = await startLab({ dir: join(directory.path, 'lab'), hosts: 2 })
  const [first, second] = lab.hosts
  assert.ok(first?.address && second)
  const image = await guestImage('small')
  const does = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await onMachine(first).shell(`set -euo pipefail\n${script}`)
    assert.equal(code, 0, `${script}: ${stderr}${stdout}`)
    return stdout
  }
  await does(`skerry up --template ${image} --machines ${first.address}:8444`)
  const line = (await does(`skerry admin host invite --config ${CONFIG}`)).trim()
  assert.match(line, /^skerry vmd join --cloud https:\S+ --token \S+ --fingerprint [0-9a-f]{64}$/i)
  const joined = await onMachine(second).shell(line)
  assert.equal(joined.code, 0, joined.stderr)
  await second.startVmd()
  const rows = async () =>
    JSON.parse(await does(`skerry admin host list --json --config ${CONFIG}`)) as Row[]
  const isOpen = ({ state, enabled, seen }: Row) => state === 'joined' && enabled && seen
  await until('both are open', async () => (await rows()).filter(isOpen).length === 2, SEEN_MS)
  const own = (await rows()).find(({ name }) => name === first.name)
  await does(`skerry admin host disable ${own?.id} --config ${CONFIG}`)

  const text = await readFile(PAGE, 'utf8')
  const blocks = blocksIn(text)
  const [, login = '', make = ''] = blocks.map((block) => block.replaceAll('sudo ', ''))
  // The login is stored in the test's directory, and not with a user's profiles.
  await does([`export XDG_CONFIG_HOME=${directory.path}`, login, make].join('\n'))
  const { stdout } = await second.run(['virsh', '-c', 'qemu:///system', 'list', '--name'])
  assert.match(stdout, /^cloud-/m)
})
