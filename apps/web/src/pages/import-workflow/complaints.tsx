import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Icon } from '../../components/icon.tsx'
import type { ImportComplaint } from '../../model/workflows/workflow-import.ts'
import { plural } from '../../text/format.ts'

import page from '../../styles/page.module.css'

interface ComplaintsProps {
  readonly id: string
  readonly complaints: readonly ImportComplaint[]
  /** Why nothing was checked or imported. */
  readonly failure: string | undefined
  /** What the import would do. */
  readonly outcome: string | undefined
  readonly onShow: (complaint: ImportComplaint) => void
}

/** What the server found. Each error leads to its place. */
export const Complaints = ({ id, complaints, failure, outcome, onShow }: ComplaintsProps) => (
  <div id={id} role="status" className={page['stack']}>
    {failure !== undefined && <p className={page['bad']}>{failure}</p>}
    {outcome !== undefined && (
      <p className={`${page['state']} ${page['good']}`}>
        <Icon name="check" size={14} />
        {outcome}
      </p>
    )}
    {complaints.length > 0 && (
      <Card title={plural(complaints.length, 'error')}>
        <ul className={page['stack']}>
          {complaints.map((complaint) => (
            <li key={`${complaint.line} ${complaint.column} ${complaint.message}`}>
              {complaint.line === undefined ? (
                <span className={page['mono']}>{complaint.at} </span>
              ) : (
                <Button small onClick={() => onShow(complaint)}>
                  Line {complaint.line}
                </Button>
              )}{' '}
              {complaint.message}
            </li>
          ))}
        </ul>
      </Card>
    )}
  </div>
)
