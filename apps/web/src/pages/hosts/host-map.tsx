import { useRef, useState, type KeyboardEvent } from 'react'

import { now } from '../../api/clock-and-ids.ts'
import type { HostQueryRecord } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { hostStateOf, memoryShare } from '../../model/host.ts'
import { formatPercent } from '../../text/format.ts'

import style from './page.module.css'

const TIGHT = 0.85
const FULL = 0.95

const kindOf = (host: HostQueryRecord): string => {
  const state = hostStateOf(host, now())
  if (state !== 'open') return state
  const share = memoryShare(host)
  return share > FULL ? 'full' : share > TIGHT ? 'tight' : 'open'
}

const legend = [
  ['free', 'free'],
  ['used', 'used'],
  ['tight', 'over 85 %'],
  ['full', 'over 95 %'],
  ['closed', 'disabled'],
  ['away', 'away'],
] as const

interface HostMapProps {
  readonly hosts: readonly HostQueryRecord[]
  readonly onOpen: (host: HostQueryRecord) => void
}

/** The memory of every host as one square. Arrow keys move through it; it is one stop of the Tab key. */
export function HostMap({ hosts, onOpen }: HostMapProps) {
  const map = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState(0)
  const move = (event: KeyboardEvent): void => {
    const columns = map.current
      ? getComputedStyle(map.current).gridTemplateColumns.split(' ').length
      : 1
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: columns,
      ArrowUp: -columns,
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(hosts.length - 1, current + step))
    setCurrent(next)
    ;(map.current?.children[next] as HTMLElement | undefined)?.focus()
  }
  return (
    <Card
      title="Memory by host"
      flush
      tools={
        <div className={style['legend']}>
          {legend.map(([kind, text]) => (
            <span key={kind}>
              <i data-kind={kind} /> {text}
            </span>
          ))}
        </div>
      }
    >
      <div
        ref={map}
        className={style['map']}
        role="toolbar"
        aria-label="Memory by host"
        onKeyDown={move}
      >
        {hosts.map((host, index) => {
          const share = memoryShare(host)
          const text = `${host.name}: ${formatPercent(share)} of memory, ${hostStateOf(host, now())}`
          return (
            <button
              key={host.href}
              type="button"
              tabIndex={index === current ? 0 : -1}
              data-kind={kindOf(host)}
              title={text}
              aria-label={text}
              style={{ '--load': share } as Record<string, number>}
              onClick={() => onOpen(host)}
            />
          )
        })}
      </div>
    </Card>
  )
}
