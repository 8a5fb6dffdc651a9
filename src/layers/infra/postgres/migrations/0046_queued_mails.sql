-- Who requested a mail through the mail server of the operator: quotas count mails while they are queued. Empty if nobody
-- is known; null for all else, and for deliveries of the release before.
alter table deliveries add column shared_mail_by text;
