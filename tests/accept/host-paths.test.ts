// Goal: no hostPath, and no change of what it refers to during sharing, shows a guest a directory that its caller may not share.
// Method: a member of the group skerry, who is not root, sends requests by HTTP on a host with vmd. After each response the test
// reads what is mounted, on the host and where virtiofsd serves it to a guest, and which directory a reader finds there.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'

import { guestImage, reasonToSkip, startHost, type LabHost } from '@skerry/lab'

import {
  BARRED,
  disguised,
  identity,
  nowhere,
  ONLY_BELOW,
} from '../../packages/engine/test/hostile-paths.ts'
import { seededRandom, type SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { startEngine } from '../guest/engine.ts'
import { curlOn } from './curl.ts'
import { addMembers, startMember, type Member } from './member.ts'
import { Onlooker } from './onlooker.ts'

const skip = reasonToSkip('host', 'small') ?? false
const PATHS = 500
const SWAPS = Number(process.env['SKERRY_SWAPS'] ?? 1000)
const SEED = Number(process.env['SKERRY_SEED'] ?? 20_261_115)
const ANNA = 54_322
const BEN = 54_323

let dir: string
let host: LabHost
let anna: Member
let onlooker: Onlooker
const { post, patch } = curlOn(() => host)
const at = (name: string) => join(dir, name)

async function make(owner: number, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(at(name), { recursive: true })
    await chown(at(name), owner, owner)
  }
}

suite('paths of the host', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'host-paths-'))
    await chmod(dir, 0o755)
    host = await startHost({ dir: at('host') })
    await make(ANNA, 'anna', 'anna/deep', 'anna/deep/er', 'anna/with blank', 'anna/ünï')
    await make(ANNA, 'anna/.ssh', 'anna/.config', 'anna/.config/x', 'anna/deep/.git')
    await make(BEN, 'ben', 'ben/work')
    // Created by the machine in the home of this user, who may rename it and does not own it.
    await make(0, 'anna/of-root')
    await writeFile(at('anna/file'), '')
    await symlink('/var/lib/skerry', at('data-by-link'))
    await symlink(at('anna'), at('home-by-link'))
    await addMembers(host, dir, [
      { name: 'anna', uid: ANNA, home: at('home-by-link') },
      { name: 'ben', uid: BEN, home: at('ben') },
    ])
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', await guestImage('small'))
    }
    await host.startVmd()
    anna = await startMember(host, ANNA)
    assert.equal((await post('/api/vms', { id: 'vm-1' })).status, 201)
    assert.equal((await patch('/api/vms/power/vm-1', 'on')).status, 200)
    assert.equal((await patch('/api/vms/vm-1/folders', 'true')).status, 200)
    onlooker = new Onlooker(host, 'vm-1')
    // The shared directories of a VM that is off change as those of a running one, and here that takes no time from the others.
    assert.equal((await patch('/api/vms/power/vm-1', 'pause')).status, 200)
  })
  after(async () => {
    await anna[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test(`${PATHS} hostile paths: a directory that is not the caller’s, or is barred, is never mounted`, async (t) => {
    const random = seededRandom(SEED)
    const allowed = ['anna', 'anna/deep/er', 'anna/with blank', 'anna/ünï', 'anna/deep/.git'].map(
      at,
    )
    const owned = ['anna/.ssh', 'anna/.config', 'anna/.config/x'].map(at)
    const foreign = ['ben', 'ben/work', 'anna/of-root', 'host', 'data-by-link', '.'].map(at)
    const all = [
      ...BARRED,
      ...ONLY_BELOW,
      '/etc/ssh',
      '/var/lib/skerry',
      '/run/skerry',
      '/run/skerry/points',
    ]
    const targets = [...all, ...owned, ...foreign, ...allowed, ...allowed, ...allowed]
    const may = new Set(await Promise.all(allowed.map(identity)))
    const statuses: Record<number, number> = {}
    const wrong = nowhere(at('anna'))
    for (let round = 0; round < PATHS; round += 1) {
      const path = wrong[round] ?? (await byLinks(random, random.pick(targets as [string]), round))
      // Flags and guest paths cycle through all allowed values, so that each mount is different.
      const flags = random.pick([0, 4])
      const said = await share(`f${round}`, path, flags)
      statuses[said.status] = (statuses[said.status] ?? 0) + 1
      assert.match(String(said.status), /^(201|400|403)$/, `${path}: ${said.body}`)
      const shown = await onlooker.look(`f${round}`)
      if (said.status === 201) {
        assert.ok(shown.found !== undefined && may.has(shown.found), `${path} showed ${shown.root}`)
        assert.equal(shown.isReadOnly, flags === 0)
        await unshare(`f${round}`)
      }
      await onlooker.assertNothing(path)
    }
    t.diagnostic(`seed ${SEED}: ${PATHS} paths, answers ${JSON.stringify(statuses)}`)
    assert.ok((statuses[201] ?? 0) > 50 && (statuses[403] ?? 0) > 150, JSON.stringify(statuses))
  })

  const races = {
    'the folder, for a link to the machine’s': ['door', '', '/etc'],
    'a directory above the folder, for a link to vmd’s own': ['door', 'inside', '/var/lib/skerry'],
    'the folder, for a directory of somebody else': ['door', '', undefined],
    'a directory above the folder, for one of somebody else': ['door', 'inside', undefined],
  } as const
  for (const [what, [name, below, target]] of Object.entries(races)) {
    const swaps = Math.ceil(SWAPS / Object.keys(races).length)
    test(`${what}, swapped ${swaps} times meanwhile`, async (t) => {
      await race(t, { name, below, target, swaps })
    })
  }
})

async function makeNested(place: string, owner: number): Promise<void> {
  for (const each of [place, join(place, 'inside')]) {
    await mkdir(each)
    await chown(each, owner, owner)
  }
}

interface Race {
  readonly name: string
  readonly below: string
  /** The target of the link that replaces the folder; default: another user's directory. */
  readonly target: string | undefined
  readonly swaps: number
}

async function race(t: TestContext, { name, below, target, swaps }: Race): Promise<void> {
  const ground = await mkdtemp(at('anna/race-'))
  await chown(ground, ANNA, ANNA)
  const [mine, other] = [join(ground, 'mine'), join(ground, 'other')]
  await makeNested(mine, ANNA)
  if (target === undefined) await makeNested(other, 0)
  else await symlink(target, other)
  const may = await identity(join(mine, below))
  await using swapping = await startSwapping([join(ground, name), mine, other])
  const count = { shown: 0, hidden: 0, refused: 0 }
  let done = 0
  for (let round = 0; done < swaps || count.shown < 5 || count.refused < 5; round += 1) {
    const said = await share(`r${round}`, join(ground, name, below), 4)
    const { found, root } = await onlooker.look(`r${round}`)
    assert.ok(found === undefined || found === may, `${root} was shown`)
    if (said.status === 201) {
      count[found === undefined ? 'hidden' : 'shown'] += 1
      await unshare(`r${round}`)
    } else {
      assert.match(String(said.status), /^(400|403|409)$/, said.body)
      count.refused += 1
    }
    await onlooker.assertNothing(ground)
    done = await swapping.count()
  }
  t.diagnostic(`${done} swaps: ${JSON.stringify(count)}, never anything else`)
}

/** A path to the same directory: disguised, and through up to three links. */
async function byLinks(random: SeededRandom, target: string, round: number): Promise<string> {
  const mine = at('anna')
  let path = disguised(random, target, mine)
  for (let hops = random.below(4); hops > 0; hops -= 1) {
    const link = at(`anna/link-${round}-${hops}`)
    await symlink(path, link)
    path = random.below(2) === 0 ? link : disguised(random, link, mine)
  }
  return path
}

const share = (guestPath: string, hostPath: string, flags: number) =>
  anna.ask('POST', '/api/vms/vm-1/folders', JSON.stringify({ guestPath, hostPath, flags }))

async function unshare(guestPath: string): Promise<void> {
  const { status, body } = await anna.ask('DELETE', `/api/vms/vm-1/folders/${guestPath}`)
  assert.equal(status, 204, body)
}

interface Swapping extends AsyncDisposable {
  /** How many times the name has changed. */
  count(): Promise<number>
}

/** The owner of the parent directory swaps two things under one name. */
async function startSwapping(names: readonly string[]): Promise<Swapping> {
  const file = join(import.meta.dirname, '../../packages/engine/test/swap-process.ts')
  const child = host.spawn([process.execPath, file, ...names, String(ANNA)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const over = new AbortController()
  const ended = once(child, 'exit').then(() => over.abort())
  const hear = () => once(child, 'message', { signal: over.signal })
  await hear()
  return {
    async count() {
      child.send('how many')
      const [swaps] = (await hear()) as [number]
      return swaps
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
