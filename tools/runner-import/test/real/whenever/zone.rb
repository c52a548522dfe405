env 'TZ', 'Europe/Berlin'
set :chronic_options, time_zone: "Tokyo"
every 1.day, at: '3:00 am' do
  rake "logs:delete"
end
