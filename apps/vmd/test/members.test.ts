import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { findMembers, Members } from '../src/local/access/members.ts'

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'anna:x:1000:1000::/home/anna:/bin/sh',
  'ben:x:1001:1001::/home/ben:/bin/sh',
  'service:x:990:985::/:/usr/sbin/nologin',
  'odd:x:minus one:985::/:/bin/sh',
  '+::::::',
  '',
].join('\n')

test('members are users listed in the group and users whose primary group it is', () => {
  const { gid, uids } = findMembers('adm:x:4:ben\nskerry:x:985:anna,gone\n', passwd, 'skerry')
  assert.equal(gid, 985)
  assert.deepEqual([...uids], [1000, 990])
})

test('a machine without the group has no members', () => {
  const none = { gid: undefined, uids: new Set() }
  assert.deepEqual(findMembers('adm:x:4:ben\n', passwd, 'skerry'), none)
  assert.deepEqual(findMembers('skerry:x:\n', passwd, 'skerry'), none)
  assert.deepEqual(findMembers('', '', 'skerry'), none)
})

test('a group name that only starts the same is another group', () => {
  assert.equal(findMembers('skerry2:x:985:anna\n', passwd, 'skerry').gid, undefined)
})

test('a change of the files is seen at the next read', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'members-'))
  try {
    const registers = { group: join(dir, 'group'), passwd: join(dir, 'passwd') }
    await writeFile(registers.passwd, passwd)
    await writeFile(registers.group, 'skerry:x:985:\n')
    const members = new Members('skerry', registers)
    assert.deepEqual([...(await members.read()).uids], [990])
    assert.equal(await members.read(), await members.read())
    await writeFile(registers.group, 'skerry:x:985:ben\n')
    assert.deepEqual([...(await members.read()).uids], [1001, 990])
  } finally {
    await rm(dir, { recursive: true })
  }
})
