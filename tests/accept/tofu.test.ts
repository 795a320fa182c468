// Goal: OpenTofu has a cloud as its files say. Method: the provider of this clone at a small cloud with a real cell, PostgreSQL and
// Temporal, and simulated hosts. `npm run prove:tofu` does the same one after the other, and while answers are lost.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { inspect } from 'node:util'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { applyAtOnce } from '../tofu/at-once.ts'
import { examples } from '../tofu/cases.ts'
import { applyThroughKills } from '../tofu/killed-cell.ts'
import { live } from '../tofu/life.ts'
import { openSite, type OpenSite } from '../tofu/open-site.ts'
import { lintProvider } from '../tofu/provider.ts'
import { reasonWithoutGo } from '../tofu/tofu-build.ts'

const skip =
  reasonWithoutRoot('cloud') ??
  (await reasonWithoutGo()) ??
  (await reasonWithoutTemporal()) ??
  false

let opened: OpenSite
before(async () => {
  if (skip !== false) return
  opened = await openSite()
})
after(() => opened?.[Symbol.asyncDispose]())

test('gofmt and vet have no objection to the provider', { skip }, async () => {
  assert.equal(await lintProvider(), '')
})

suite('applied, changed, imported, repaired, destroyed', { skip, concurrency: 2 }, () => {
  for (const example of examples) {
    test(example.name, async (t) => {
      t.diagnostic(inspect(await live(opened.site, opened.cloudSite.api, example)))
    })
  }
})

test('ten at once, while others keep the VMs busy', { skip }, async (t) => {
  t.diagnostic(inspect(await applyAtOnce(opened.site, opened.cloudSite.api)))
})

test('an apply and a destroy through kill -9 of the only cell', { skip }, async (t) => {
  t.diagnostic(inspect(await applyThroughKills(opened.site, opened.cloudSite)))
})
