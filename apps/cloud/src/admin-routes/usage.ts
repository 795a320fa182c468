import { type Static, Type } from '@skerry/schema'
import type { OrgId } from '@skerry/vm'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { orgUsage, usageTable } from '../documents/admin/usage.ts'
import type { Principal } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'
import { readUsagePeriods, type UsagePeriod } from '../metering/read-usage.ts'
import { usageRangeOf, type UsageRange } from '../metering/usage-range.ts'

const RangeQuery = Type.Object({
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  by: Type.Optional(Type.String()),
})

async function read(
  context: RequestContext,
  principal: Principal,
  org: OrgId,
  query: Static<typeof RangeQuery>,
): Promise<{ readonly range: UsageRange; readonly periods: readonly UsagePeriod[] }> {
  const range = usageRangeOf(query, context.clock.now())
  const periods = await context.as(principal, (tx) => readUsagePeriods(tx, org, range))
  return { range, periods }
}

const headers = { 'cache-control': 'no-store' }

export const orgUsageRoutes = [
  route({
    name: 'readOrgUsage',
    method: 'GET',
    path: at.orgUsage,
    permission: 'org:admin',
    query: RangeQuery,
    answers: { 200: 'admin.usage' },
    doc: 'What an organisation used between `from` (inclusive) and `to` (exclusive), by `hour`, `day` or `month` of UTC; default: the days of this month. Times are days or whole hours, such as 2026-11-01 or 2026-11-01T12:00:00Z. Values are units times milliseconds, so that no sum is rounded: an hour of a VM with 2 CPUs is 7200000 cpuMilliseconds. What is allotted counts, as in quotas; `running…` is the part of VMs that ran. A period that is not complete is counted up to now. At most 1000 periods; hours are kept for three years.',
    async handle(context, caller) {
      const { principal, query, params } = caller
      const { range, periods } = await read(context, principal, params.org.id, query)
      const hrefs = new Hrefs(context.base)
      return {
        status: 200,
        headers,
        body: orgUsage(params.org, range.by, periods, caller, hrefs),
      }
    },
  }),
  route({
    name: 'exportOrgUsage',
    method: 'GET',
    path: at.orgUsageTable,
    permission: 'org:admin',
    query: RangeQuery,
    answers: { 200: 'text/csv' },
    doc: 'The same as CSV with the columns of FOCUS, the FinOps specification: a line for each period and each thing that was used in it, in hours with six decimals. There are no prices.',
    async handle(context, { principal, query, params: { org } }) {
      const { periods } = await read(context, principal, org.id, query)
      return { status: 200, headers, body: Buffer.from(usageTable(org, periods)) }
    },
  }),
]
