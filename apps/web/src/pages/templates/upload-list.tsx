import { useRef } from 'react'

import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { cancelUpload, resumeUpload, type Upload } from '../../data/uploads.ts'
import { formatBytes } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './upload-list.module.css'

export const UploadList = ({ uploads }: { readonly uploads: readonly Upload[] }) => (
  <Card title="Uploads">
    <div className={page['stack']}>
      {uploads.map((upload) => (
        <UploadRow key={upload.href} upload={upload} />
      ))}
    </div>
  </Card>
)

function UploadRow({ upload }: { readonly upload: Upload }) {
  const input = useRef<HTMLInputElement>(null)
  const percent = Math.floor((upload.sent / upload.size) * 100)
  return (
    <div className={style['upload']}>
      <span className={page['strong']}>{upload.name}</span>
      <ProgressBar percent={percent} label={`Upload of ${upload.name}`} />
      <span className={page['small']}>
        {upload.state === 'sending'
          ? `${formatBytes(upload.sent)} of ${formatBytes(upload.size)}`
          : (upload.error ?? `Paused, ${formatBytes(upload.size)}`)}
      </span>
      {upload.state !== 'sending' && (
        <>
          <input
            ref={input}
            type="file"
            className="visually-hidden"
            aria-label={`File of ${upload.name}`}
            tabIndex={-1}
            onChange={(event) => {
              const file = event.target.files?.[0]
              if (file) resumeUpload(upload, file)
              // The same wrong file, chosen again, is an answer too.
              event.target.value = ''
            }}
          />
          <Button small icon="upload" onClick={() => input.current?.click()}>
            Choose the same file to continue
          </Button>
        </>
      )}
      <Button small tone="plain" onClick={() => void cancelUpload(upload)}>
        Cancel
      </Button>
    </div>
  )
}
