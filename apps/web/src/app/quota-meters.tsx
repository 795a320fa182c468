import type { AdminOrgDocument } from '../api/documents.ts'
import { Meter } from '../components/meter.tsx'
import { quotaRowsOf, type QuotaRow } from '../model/quota.ts'
import { en } from '../text/en.ts'
import { formatCount, formatMiB } from '../text/format.ts'

import style from './quota-meters.module.css'

const amount = (key: QuotaRow['key'], value: number): string =>
  key.endsWith('MB') ? formatMiB(value) : formatCount(value)

/** What of each limit is used. */
export const QuotaMeters = ({ org }: { readonly org: AdminOrgDocument }) => (
  <ul className={style['quota']}>
    {quotaRowsOf(org).map(({ key, used, limit }) => (
      <li key={key}>
        <span>{en.quota[key]}</span>
        <span className={style['numbers']}>
          {used !== undefined && `${amount(key, used)}${limit === undefined ? ', ' : ' of '}`}
          {limit === undefined ? 'no limit' : amount(key, limit)}
        </span>
        {used !== undefined && limit !== undefined && limit > 0 && (
          <span className={style['meter']}>
            <Meter share={used / limit} label={en.quota[key]} />
          </span>
        )}
      </li>
    ))}
  </ul>
)
