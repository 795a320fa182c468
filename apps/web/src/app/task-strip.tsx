// Tasks at the edge of every page: one line, and the latest tasks when it is open.
import { Link } from 'react-router'

import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { ProgressBar } from '../components/progress-bar.tsx'
import { isTaskListOpen } from '../data/page-state.ts'
import { useStore } from '../data/store.ts'
import { cancelUpload, uploads, type Upload } from '../data/uploads.ts'
import { useTasks } from '../data/use-documents.ts'
import { isOpen as isTaskOpen } from '../model/task.ts'
import { en } from '../text/en.ts'
import { formatBytes, plural } from '../text/format.ts'
import { paths } from './paths.ts'
import { TaskTable } from './task-table.tsx'

import style from './task-strip.module.css'

export function TaskStrip() {
  const isOpen = useStore(isTaskListOpen)
  const { data } = useTasks()
  const ownUploads = useStore(uploads)
  const tasks = data?.tasks ?? []
  const running = tasks.filter(isTaskOpen)
  const failed = tasks.filter(({ state }) => state === 'error').length
  const [current] = running
  return (
    <section className={style['strip']} aria-label="Tasks">
      {ownUploads.map((upload) => (
        <UploadLine key={upload.href} upload={upload} />
      ))}
      <button
        type="button"
        className={style['bar']}
        aria-expanded={isOpen}
        onClick={() => isTaskListOpen.set(!isOpen)}
      >
        <span>
          {running.length === 0 ? 'No running tasks' : plural(running.length, 'running task')}
        </span>
        {current && (
          <span className={style['current']}>
            <span>
              {en.operation(current.operation, false)} <b>{current.object}</b>
            </span>
            <ProgressBar percent={current.progress} label={`Progress of ${current.object}`} />
            <span>{current.progress} %</span>
          </span>
        )}
        {failed > 0 && <span className={style['failed']}>{failed} failed</span>}
        <span className={style['fold']}>
          <Icon name={isOpen ? 'down' : 'up'} size={14} />
        </span>
      </button>
      {isOpen && (
        <div className={style['list']} tabIndex={0} role="region" aria-label="Latest tasks">
          <TaskTable tasks={tasks} />
        </div>
      )}
    </section>
  )
}

function UploadLine({ upload }: { readonly upload: Upload }) {
  const percent = Math.floor((upload.sent / upload.size) * 100)
  return (
    <div className={style['upload']}>
      <Icon name="upload" size={14} />
      <span>
        Uploading <b>{upload.name}</b>
      </span>
      {upload.state === 'sending' ? (
        <>
          <ProgressBar percent={percent} label={`Upload of ${upload.name}`} />
          <span>
            {formatBytes(upload.sent)} of {formatBytes(upload.size)}
          </span>
        </>
      ) : (
        <Link className={style['resume']} to={paths.templates}>
          Paused: choose the same file to continue
        </Link>
      )}
      <Button
        small
        tone="plain"
        icon="close"
        label={`Cancel the upload of ${upload.name}`}
        onClick={() => void cancelUpload(upload)}
      />
    </div>
  )
}
