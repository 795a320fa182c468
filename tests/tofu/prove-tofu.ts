// npm run prove:tofu [-- --only vm,network] Goal: OpenTofu has a cloud as its files say, whatever happens meanwhile. Method: a small
// cloud with a real cell, PostgreSQL and Temporal, and simulated hosts; every example is applied, changed, imported, changed by another
// client and destroyed; then again while every answer is lost once; ten applies at once; an apply and a destroy through kill -9 of the cell.
import { inspect, parseArgs } from 'node:util'

import { applyAtOnce } from './at-once.ts'
import { examples } from './cases.ts'
import { applyThroughKills } from './killed-cell.ts'
import { live } from './life.ts'
import { applyWithLostAnswers } from './lost-answers.ts'
import { openSite } from './open-site.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const only = values.only?.split(',')
const isWanted = (name: string): boolean => only === undefined || only.includes(name)

await using opened = await openSite()
const { site, cloudSite } = opened
console.log(`${site.program.name}, provider of this clone`)

const rows: Record<string, Record<string, number>> = {}
const failures: string[] = []
const prove = async (
  name: string,
  step: () => Promise<Readonly<Record<string, number>>>,
): Promise<void> => {
  if (!isWanted(name)) return
  try {
    const seconds = Object.entries(await step())
    rows[name] = Object.fromEntries(seconds.map(([key, value]) => [key, Number(value.toFixed(1))]))
    console.log(`ok: ${name} ${JSON.stringify(rows[name])}`)
  } catch (error) {
    console.log(`NOT MET: ${name}: ${inspect(error)}`)
    failures.push(name)
  }
}

for (const example of examples) {
  await prove(example.name, () => live(site, cloudSite.api, example))
}
await prove('lost answers', () => applyWithLostAnswers(site, cloudSite))
await prove('ten at once', () => applyAtOnce(site, cloudSite.api))
await prove('kill -9', () => applyThroughKills(site, cloudSite))

console.table(rows)
if (failures.length > 0) {
  console.log(`not met: ${failures.join(', ')}`)
  process.exitCode = 1
}
