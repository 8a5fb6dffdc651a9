-- The trace of the request that caused an event, as a traceparent header of W3C Trace Context. Null without a trace.
alter table events add column trace_parent text;
