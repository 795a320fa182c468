// Goal: npm runs no install script of a dependency without an explicit decision. Method: the lock file against the list of
// decisions.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = `${import.meta.dirname}/..`
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')

test('every package with an install script is allowed or denied, and none but Node is allowed', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  const { allowScripts } = JSON.parse(read('package.json')) as {
    allowScripts: Record<string, boolean>
  }
  const scripted = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
  assert.deepEqual([...new Set(scripted)].toSorted(), Object.keys(allowScripts).toSorted())
  const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed)
  assert.deepEqual(allowed, [['node', true]])
})

test('npm refuses to install a package that is on neither list', () => {
  assert.match(read('.npmrc'), /^strict-allow-scripts=true$/m)
})
