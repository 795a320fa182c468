import { Card } from '../../components/card.tsx'
import { Meter } from '../../components/meter.tsx'
import type { Amount, Capacity } from '../../model/host.ts'
import { formatCount, formatMiB } from '../../text/format.ts'

import style from './page.module.css'

interface CapacityCardsProps {
  readonly capacity: Capacity
  readonly hosts: number
}

export const CapacityCards = ({ capacity, hosts }: CapacityCardsProps) => (
  <div className={style['cards']}>
    <Card flush>
      <div className={style['card']}>
        <p>Virtual machines</p>
        <div>
          <b>{formatCount(capacity.vms)}</b>
        </div>
        <div>
          <small>about {formatCount(Math.round(capacity.vms / hosts))} on each host</small>
        </div>
      </div>
    </Card>
    {capacity.cpus && <AmountCard title="CPUs" amount={capacity.cpus} format={formatCount} />}
    <AmountCard title="Memory" amount={capacity.memory} format={formatMiB} />
    <AmountCard title="Storage" amount={capacity.storage} format={formatMiB} />
  </div>
)

interface AmountCardProps {
  readonly title: string
  readonly amount: Amount
  readonly format: (value: number) => string
}

const AmountCard = ({ title, amount: { used, total }, format }: AmountCardProps) => (
  <Card flush>
    <div className={style['card']}>
      <p>{title}</p>
      <div>
        <b>{format(total - used)}</b> <small>free of {format(total)}</small>
      </div>
      <div>
        <Meter large share={total === 0 ? 0 : used / total} label={`${title} in use`} />
      </div>
    </div>
  </Card>
)
