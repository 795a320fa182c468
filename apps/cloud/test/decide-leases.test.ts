// Goal: every host is followed by a cell that reaches it, if one does; no host moves back and forth. Method: the decision function
// alone, over a table of scenes, and many random ones until they are stable.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostId } from '@skerry/vm'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { decideLeases, type Leases, type Scene } from '../src/hosts/decide-leases.ts'

/** 'a:x' is host a followed by cell x, 'a:' a free one; 'x!' is a cell that is not fit; 'x-a': x yields host a. */
interface Words {
  readonly cells: string
  readonly hosts: string
  readonly back?: string
  readonly silent?: string
}

const words = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '')

function sceneOf({ cells, hosts, back, silent }: Words): Scene {
  return {
    cell: 'x',
    cells: words(cells).map((word) => ({ id: word.replace('!', ''), fit: !word.endsWith('!') })),
    hosts: words(hosts).map((word) => {
      const [id = '', follower = ''] = word.split(':')
      return { id: id as HostId, follower: follower === '' ? null : follower }
    }),
    standingBack: words(back).map((word) => {
      const [cell = '', host = ''] = word.split('-')
      return { cell, host: host as HostId }
    }),
    silent: new Set(words(silent) as HostId[]),
  }
}

const table: Readonly<Record<string, readonly [Words, Partial<Record<keyof Leases, string>>]>> = {
  'a cell alone takes all': [{ cells: 'x', hosts: 'a: b:' }, { take: 'a b' }],
  'a cell alone keeps trying a host that it does not hear': [
    { cells: 'x', hosts: 'a:x b:x', silent: 'a b' },
    {},
  ],
  'a host is not left to a dead cell': [{ cells: 'x', hosts: 'a:x b:y', silent: 'a' }, {}],
  'two cells share': [{ cells: 'x y', hosts: 'a: b:' }, { take: 'a' }],
  'three hosts of two cells are two and one': [{ cells: 'x y', hosts: 'a:x b:x c:y' }, {}],
  'what is over the share goes to who has room': [
    { cells: 'x y', hosts: 'a:x b:x c:x d:x' },
    { giveBack: 'd c' },
  ],
  'a silent host is let go of, the others are kept': [
    { cells: 'x y', hosts: 'a:x b:x c:y d:y', silent: 'b' },
    { letGo: 'b' },
  ],
  'the other cell takes it beyond half of all': [
    { cells: 'x y', hosts: 'a:x b:x c:y d:', back: 'y-d' },
    { take: 'd' },
  ],
  'and keeps it while the first stands back': [
    { cells: 'x y', hosts: 'a:x b:x c:y d:x', back: 'y-d' },
    {},
  ],
  'a host that a cell stands back from is not taken by it': [
    { cells: 'x y', hosts: 'a:x b:', back: 'x-b' },
    {},
  ],
  'not given back to a cell that stands back from it': [
    { cells: 'x y', hosts: 'a:x b:x c:x', back: 'y-c y-b' },
    {},
  ],
  'a host that no cell hears is tried by the one that has it': [
    { cells: 'x y', hosts: 'a:x b:y', back: 'y-a', silent: 'a' },
    {},
  ],
  'a host that all cells stand back from is taken all the same': [
    { cells: 'x y', hosts: 'a: b:y', back: 'x-a y-a' },
    { take: 'a' },
  ],
  'no host is left to a cell that is not fit': [
    { cells: 'x y!', hosts: 'a:x b:x', silent: 'a' },
    {},
  ],
  'a fit cell takes the part of one that is not': [
    { cells: 'x y!', hosts: 'a:x b: c:' },
    { take: 'b c' },
  ],
  'a cell that is not fit gives all back and works no more': [
    { cells: 'x! y', hosts: 'a:x b:x c:' },
    { giveBack: 'a b', works: 'no' },
  ],
  'where no cell is fit, all go on': [{ cells: 'x! y!', hosts: 'a: b:y' }, { take: 'a' }],
  'a cell alone goes on though it is not fit': [{ cells: 'x!', hosts: 'a:' }, { take: 'a' }],
}

for (const [name, [given, expected]] of Object.entries(table)) {
  test(name, () => {
    const { works, letGo, giveBack, take } = decideLeases(sceneOf(given))
    assert.deepEqual(
      { works: works ? 'yes' : 'no', letGo, giveBack, take },
      {
        works: expected.works ?? 'yes',
        letGo: words(expected.letGo),
        giveBack: words(expected.giveBack),
        take: words(expected.take),
      },
    )
  })
}

test('2,000 random clouds become stable, with every host at a cell that reaches it, if one does', () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const { below } = seededRandom(seed)
    const cells = Array.from({ length: 1 + below(4) }, (_, n) => ({
      id: `cell-${n}`,
      fit: below(5) > 0,
    }))
    const names = Array.from({ length: below(12) }, (_, n) => `host-${n}` as HostId)
    const unreached = new Set<string>()
    for (const { id } of cells)
      for (const host of names) if (below(4) === 0) unreached.add(`${id} ${host}`)
    const followers = new Map<HostId, string | null>(
      names.map((host) => [host, [null, cells[below(cells.length)]?.id ?? null][below(2)] ?? null]),
    )
    const back = new Set<string>()
    const standingBack = () =>
      [...back].map((pair) => {
        const [cell = '', host = ''] = pair.split(' ')
        return { cell, host: host as HostId }
      })
    let moved = true
    for (let round = 0; moved && round < 60; round += 1) {
      moved = false
      for (const { id: cell } of cells) {
        const hosts = names.map((id) => ({ id, follower: followers.get(id) ?? null }))
        const silent = new Set(names.filter((host) => unreached.has(`${cell} ${host}`)))
        const scene = { cell, cells, hosts, standingBack: standingBack(), silent }
        const { letGo, giveBack, take } = decideLeases(scene)
        for (const host of letGo) back.add(`${cell} ${host}`)
        for (const host of [...letGo, ...giveBack]) followers.set(host, null)
        for (const host of take) followers.set(host, cell)
        moved ||= letGo.length + giveBack.length + take.length > 0
      }
    }
    assert.ok(!moved, `seed ${seed} becomes stable`)
    const working = cells.some(({ fit }) => fit) ? cells.filter(({ fit }) => fit) : cells
    for (const host of names) {
      const follower = followers.get(host)
      const reached = working.some(({ id }) => !unreached.has(`${id} ${host}`))
      assert.ok(follower, `seed ${seed}: ${host} is followed`)
      assert.ok(
        working.some(({ id }) => id === follower),
        `seed ${seed}: by a fit cell`,
      )
      assert.ok(
        !reached || !unreached.has(`${follower} ${host}`),
        `seed ${seed}: ${host} is reachable`,
      )
    }
  }
})
