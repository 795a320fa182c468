import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { link, type Hrefs } from '../../http/links.ts'
import { hoursOf, meters } from '../../metering/meters.ts'
import type { UsagePeriod } from '../../metering/read-usage.ts'
import type { UsageStep } from '../../metering/usage-range.ts'
import type { OrgRow } from '../../tenants/orgs.ts'

/** What an organisation used, an element for each period. */
export const orgUsage = (
  { id, name }: OrgRow,
  by: UsageStep,
  periods: readonly UsagePeriod[],
  { dialect }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'OrgUsage',
    { name, by, type: dialect.media('admin.usage'), href: hrefs.orgUsage(id) },
    link('up', hrefs.adminOrg(id), { type: dialect.media('admin.org') }),
    link('alternate', hrefs.orgUsageTable(id)),
    ...periods.map(({ from, to, isComplete, sums }) =>
      element('Period', {
        from: from.toISOString(),
        to: to.toISOString(),
        complete: isComplete,
        ...Object.fromEntries(
          meters.map(({ attribute, column }) => [attribute, String(sums[column])]),
        ),
      }),
    ),
  )

const columns = [
  'ChargePeriodStart',
  'ChargePeriodEnd',
  'SubAccountId',
  'SubAccountName',
  'ChargeCategory',
  'ServiceCategory',
  'ServiceName',
  'SkuId',
  'ChargeDescription',
  'ConsumedQuantity',
  'ConsumedUnit',
  'x_Complete',
] as const

/** The same as CSV by the columns of FOCUS: a line for each period and each thing that was used in it. */
export function usageTable({ id, name }: OrgRow, periods: readonly UsagePeriod[]): string {
  const lines = periods.flatMap(({ from, to, isComplete, sums }) =>
    meters
      .filter(({ column }) => sums[column] > 0n)
      .map((meter): Readonly<Record<(typeof columns)[number], string>> => ({
        ChargePeriodStart: from.toISOString(),
        ChargePeriodEnd: to.toISOString(),
        SubAccountId: id,
        SubAccountName: name,
        ChargeCategory: 'Usage',
        ServiceCategory: meter.service,
        ServiceName: 'Skerry',
        SkuId: meter.sku,
        ChargeDescription: meter.description,
        ConsumedQuantity: hoursOf(sums[meter.column], meter),
        ConsumedUnit: meter.unit,
        x_Complete: String(isComplete),
      })),
  )
  const rows = [columns, ...lines.map((line) => columns.map((column) => line[column]))]
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
}

const quoted = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
