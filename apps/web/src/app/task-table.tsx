import { useEffect, useState } from 'react'
import { Link } from 'react-router'

import { request } from '../api/client.ts'
import { now } from '../api/clock-and-ids.ts'
import { Button } from '../components/button.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { ProgressBar } from '../components/progress-bar.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { notifyError } from '../data/notifications.ts'
import { queryClient } from '../data/query-client.ts'
import { useTaskError } from '../data/use-documents.ts'
import { isOpen, type ShownTask, type ShownTaskState } from '../model/task.ts'
import { en } from '../text/en.ts'
import { formatDuration } from '../text/format.ts'
import { objectPath, paths } from './paths.ts'

import style from './task-table.module.css'

const icons: Readonly<Record<ShownTaskState, IconName>> = {
  success: 'check',
  error: 'warning',
  running: 'play',
  queued: 'schedule',
  canceled: 'close',
}

export async function cancelTask({ href, object }: ShownTask): Promise<void> {
  try {
    await request(`${href}/action/cancel`, { method: 'POST' })
  } catch (error) {
    notifyError(`The task of ${object} was not canceled`, error)
  }
  await queryClient.invalidateQueries({ queryKey: ['tasks'] })
}

/** The time, every second, while something in the table is running. */
function useSeconds(isRunning: boolean): number {
  const [time, setTime] = useState(now)
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setTime(now()), 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  return time
}

export function TaskTable({ tasks }: { readonly tasks: readonly ShownTask[] }) {
  const time = useSeconds(tasks.some(isOpen))
  return (
    <table className={style['table']}>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Task</th>
          <th scope="col">Progress</th>
          <th scope="col">User</th>
          <th scope="col">Started</th>
          <th scope="col">Duration</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <TaskRow key={task.id} task={task} now={time} />
        ))}
      </tbody>
    </table>
  )
}

function TaskRow({ task, now }: { readonly task: ShownTask; readonly now: number }) {
  const isFailed = task.state === 'error'
  const { data: failure } = useTaskError(task.href, isFailed && task.message === undefined)
  const message = task.message ?? failure ?? undefined
  const text = `${en.operation(task.operation, task.state === 'success')} ${task.object}`
  return (
    <tr>
      <td>
        <span className={`${style['state']} ${style[task.state]}`}>
          <Icon name={icons[task.state]} size={14} />
          {en.taskState[task.state]}
        </span>
      </td>
      <td>
        {en.operation(task.operation, task.state === 'success')} <TaskObject task={task} />
        {message !== undefined && <TaskMessage message={message} isError={isFailed} />}
      </td>
      <td>{isOpen(task) && <ProgressBar percent={task.progress} label={text} />}</td>
      <td className={style['soft']}>{task.owner}</td>
      <td className={style['soft']}>
        <RelativeTime time={task.started} />
      </td>
      <td className={style['soft']}>{formatDuration(task.started, task.ended, now)}</td>
      <td>
        <span className={style['tools']}>
          {isOpen(task) && !task.mustFinish && (
            <Button small tone="plain" onClick={() => void cancelTask(task)}>
              Cancel
            </Button>
          )}
          {isFailed && (
            <Button
              small
              tone="plain"
              icon="copy"
              label="Copy the error"
              onClick={() =>
                void navigator.clipboard.writeText(`${text}: ${message ?? ''} (task ${task.id})`)
              }
            />
          )}
        </span>
      </td>
    </tr>
  )
}

function TaskObject({ task }: { readonly task: ShownTask }) {
  const path = task.isBulk
    ? paths.bulkTask(task.id)
    : task.objectId === undefined
      ? undefined
      : objectPath(task.objectId)
  if (path === undefined) return task.object
  return (
    <Link className={style['object']} to={path}>
      {task.object}
    </Link>
  )
}

/** The reason, and after '; ' what the user can do. */
function TaskMessage({
  message,
  isError,
}: {
  readonly message: string
  readonly isError: boolean
}) {
  const [reason, ...hints] = message.split('; ')
  return (
    <p className={isError ? style['failure'] : style['soft']}>
      {reason}
      {hints.length > 0 && <span className={style['hint']}>. Next: {hints.join('; ')}.</span>}
    </p>
  )
}
