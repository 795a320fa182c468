// Goal: two commands cannot be confused, and a verb means the same everywhere. Method: the names of the command table.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { editDistance, places } from '@skerry/command-line'

import { commands } from '../src/commands.ts'

/** The last word of a command in a group, and what it means in every group. */
const verbs: Readonly<Record<string, string>> = {
  add: 'attaches something to a VM, an edge gateway or an account',
  adopt: 'accepts what exists on a host',
  allow: 'lets happen what is held back otherwise',
  answer: 'answers the question of a run',
  build: 'makes a template from packages',
  cancel: 'ends what is under way',
  clone: 'copies',
  create: 'makes a new thing with a name or a life of its own',
  deny: 'holds back packets',
  'declare-lost': 'gives up a host with its disks',
  disable: 'takes out of use for a while',
  enable: 'takes into use',
  export: 'writes to a file',
  follow: 'prints as it happens, until stopped',
  import: 'reads from a file',
  info: 'shows one thing',
  invite: 'lets a machine join',
  list: 'shows all things of a kind',
  logs: 'prints a log',
  move: 'changes the place in an order',
  reboot: 'asks the guests to reboot',
  'recovery-codes': 'replaces the codes for a lost device',
  release: 'gives back what was taken',
  resend: 'sends again',
  reset: 'resets without asking the guests',
  revert: 'goes back to a snapshot',
  revoke: 'ends the trust in a credential or a machine',
  rm: 'removes or deletes',
  run: 'runs a workflow',
  schedule: 'runs a workflow later, or again and again',
  set: 'changes settings',
  start: 'starts',
  stop: 'stops',
  suspend: 'saves the memory and stops',
  take: 'takes one of what the cloud has for the organisation',
  test: 'asks another server whether it works',
  usage: 'shows what was used',
  verify: 'checks that nothing was changed',
  wait: 'waits until it ends',
  waive: 'goes on without a host',
}

/** Words for which the table has another one. */
const synonyms = ['remove', 'delete', 'del', 'ls', 'show', 'get', 'new', 'make', 'edit', 'update']

const names = commands.map(({ name }) => name)

/** Both are the field's words for what they do, and neither removes anything. */
const accepted = ['up and ui']

test('no two commands differ by one letter, or as singular and plural', () => {
  const close = names.flatMap((one, at) =>
    names
      .slice(at + 1)
      .filter((other) => editDistance(one, other) === 1 || singular(one) === singular(other))
      .map((other) => `${one} and ${other}`),
  )
  assert.deepEqual(close, accepted)
})

test('no two groups or commands of the same place are singular and plural of one word', () => {
  const places = new Set(
    names.flatMap((name) => name.split(' ').map((_, at, all) => all.slice(0, at + 1).join(' '))),
  )
  const known = new Map<string, string>()
  const close = [...places].filter((place) => {
    const before = known.get(singular(place))
    known.set(singular(place), place)
    return before !== undefined
  })
  assert.deepEqual(close, [])
})

const singular = (name: string): string => name.replace(/s\b/g, '')

test('every command of a group ends with a verb of the list, and every verb is used', () => {
  const inGroups = names.filter((name) => name.includes(' ') && name !== 'admin init')
  const used = new Set(inGroups.map((name) => name.split(' ').at(-1) ?? ''))
  assert.deepEqual([...used].toSorted(), Object.keys(verbs).toSorted())
  for (const name of names) {
    for (const word of name.split(' ')) assert.ok(!synonyms.includes(word), name)
  }
})

test('a command that removes or deletes is called rm', () => {
  for (const { name, summary } of commands) {
    const removes = /^(remove|delete|stop sharing)\b/.test(summary)
    assert.equal(removes, name.split(' ').at(-1) === 'rm', `${name}: ${summary}`)
  }
})

test('commands of skerry admin that the API offers too have the same verbs', () => {
  const api = new Set(names.filter((name) => !name.startsWith('admin ')))
  const both = names
    .filter((name) => name.startsWith('admin '))
    .filter((name) => api.has(name.slice('admin '.length)))
  assert.ok(both.length >= 14, both.join(', '))
})

/** Arguments that cannot be completed from a server: new names, texts, numbers, and files, which the shell completes. */
const free = new Map(
  Object.entries({
    ADDRESS: 'an address',
    COMMAND: 'a program of the guest',
    DIRECTORY: 'a file',
    EXECUTION: 'a run of a workflow, by its id',
    FILE: 'a file',
    HOSTPORT: 'a number',
    'HOSTPORT:GUESTPORT': 'numbers',
    ID: 'an id',
    KEY: 'the key of a label',
    'KEY=VALUE': 'a label',
    NAME: 'a name, often a new one',
    NEXTHOP: 'an address',
    TARGET: 'an address, or a range of addresses',
    URL: 'an address',
    WORDS: 'the line that is completed',
    WORKFLOW: 'of a workflow server, which has no completions',
  }),
)

test('every argument of a command is completed, or says why it is not', () => {
  const sources = ['help/complete.ts', 'local/reading.ts', 'cloud/reading.ts']
    .map((file) => readFileSync(join(import.meta.dirname, '../src', file), 'utf8'))
    .join('\n')
  // Of the commands that bypass the API nothing is completed: its names are those of another cloud.
  const own = commands.filter(({ program }) => program === undefined)
  const named = new Set(own.flatMap(({ usage }) => places(usage).map(({ name }) => name)))
  assert.ok(named.size > 10, [...named].join())
  const completed = (name: string) =>
    new RegExp(`[!=]== '${name}'|\\b${name}: ['\\[]`).test(sources)
  assert.deepEqual(
    [...named].filter((name) => !completed(name) && !free.has(name)),
    [],
    'add it to names() of apps/cli/src/{local,cloud}/reading.ts, or above',
  )
  assert.deepEqual(
    [...free.keys()].filter((name) => completed(name) || !named.has(name)),
    [],
    'it is completed, or no command has it',
  )
})
