import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ControlAccessDocument } from '../src/api/sharing-documents.ts'
import {
  controlAccessOf,
  shareAccessOf,
  shareCommand,
  shareListCommand,
  sharesOf,
  unshareCommand,
  withoutShare,
  withShare,
} from '../src/model/sharing.ts'

const bob = { kind: 'user', name: 'bob' } as const
const testers = { kind: 'group', name: 'testers', provider: 'corp' } as const
const everyone = { kind: 'everyone' } as const

const document: ControlAccessDocument = {
  isSharedToEveryone: true,
  everyoneAccessLevel: 'ReadOnly',
  accessSettings: {
    accessSetting: [
      { subject: { type: 'user', name: 'bob' }, accessLevel: 'Change' },
      {
        subject: { type: 'group', name: 'testers', provider: 'corp' },
        accessLevel: 'FullControl',
      },
    ],
  },
}

test('the shares of a document, sent back as they are, are the same', () => {
  const shares = sharesOf(document)
  assert.deepEqual(shares, [
    { subject: everyone, level: 'ReadOnly' },
    { subject: bob, level: 'Change' },
    { subject: testers, level: 'FullControl' },
  ])
  assert.deepEqual(controlAccessOf(shares), document)
  assert.deepEqual(sharesOf(undefined), [])
})

test('a share replaces what its subject had, and a removal leaves the others', () => {
  const changed = withShare(sharesOf(document), { subject: bob, level: 'ReadOnly' })
  assert.deepEqual(
    changed.map(({ level }) => level),
    ['ReadOnly', 'ReadOnly', 'FullControl'],
  )
  const other = { ...testers, provider: 'partners' } as const
  assert.equal(withShare(changed, { subject: other, level: 'Change' }).length, 4)
  const left = withoutShare(withoutShare(changed, everyone), bob)
  assert.deepEqual(left, [{ subject: testers, level: 'FullControl' }])
  assert.deepEqual(controlAccessOf(withoutShare(left, testers)), { isSharedToEveryone: false })
})

test('the action and the list are found by their addresses, and a missing one has its reason', () => {
  const href = 'https://cloud.example/api/vApp/vapp-1'
  const list = { rel: 'controlAccess', href: `${href}/controlAccess` }
  const action = { rel: 'controlAccess', href: `${href}/action/controlAccess` }
  assert.deepEqual(shareAccessOf({ link: [{ rel: 'up', href }, list, action] }), {
    readHref: list.href,
    changeHref: action.href,
    because: undefined,
  })
  const because = 'only those with full control share it'
  const refused = { link: [list], unavailable: [{ rel: 'controlAccess', because }] }
  assert.equal(shareAccessOf(refused).because, because)
  assert.equal(shareAccessOf(refused).changeHref, undefined)
})

test('the same on a terminal', () => {
  const vapp = { kind: 'vapp', name: 'my shop' } as const
  assert.equal(
    shareCommand(vapp, { subject: bob, level: 'Change' }),
    "skerry access set 'my shop' --user bob --level change",
  )
  assert.equal(
    shareCommand(vapp, { subject: everyone, level: 'FullControl' }),
    "skerry access set 'my shop' --everyone --level full-control",
  )
  assert.equal(
    unshareCommand(vapp, testers),
    "skerry access rm 'my shop' --group testers --provider corp",
  )
  const catalog = { kind: 'catalog', name: 'main' } as const
  assert.equal(shareListCommand(catalog), 'skerry access list --catalog main')
})
