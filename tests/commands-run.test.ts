// Goal: no command of `skerry` is left without a test that runs it. Method: the names of the table, in the sources of tests and in the
// pages that tests execute.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { commands } from '../apps/cli/src/commands.ts'

const root = join(import.meta.dirname, '..')
const files = ['apps/*/test/**/*.ts', 'tests/**/*.ts', 'tools/lab/**/*.ts', 'docs/tutorials/*.md']
const text = globSync([...files, 'docs/guides/{audit,cloud-cli,webhooks,workflow}.md'], {
  cwd: root,
})
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')
  .replaceAll(/\s+/g, ' ')
  .replaceAll(/([[(]) /g, '$1')

/** Commands that no test runs, and why. */
const notRun: Readonly<Record<string, string>> = {
  'admin lease allow': 'apps/cloud/test/leases.test.ts writes its row by SQL',
  'identity rm': 'its route is tested in apps/cloud/test/directories.test.ts',
  'share enable': 'its route is requested in tests/accept',
  'vapp reboot': 'other rows of the same table are run',
  'vapp suspend': 'the same',
  'vm reset': 'the same',
  'workflow-egress': 'its program is started without skerry',
}

test('every command is run by a test, or says why it is not', () => {
  const missing = commands
    .map(({ name }) => name)
    .filter((name) => {
      const own = name.replace(/^admin /, '')
      const words = own.replaceAll(' ', "', '")
      // ['vm', 'list'], run('vm', 'list'), `vm list --json`, skerry vm list
      const forms = [`['${words}'`, `('${words}'`, `'admin', '${words}'`, `skerry ${name}`]
      return ![...forms, `\`${own} `, `'${own} `].some((form) => text.includes(form))
    })
  assert.deepEqual(missing.toSorted(), Object.keys(notRun).toSorted())
})
