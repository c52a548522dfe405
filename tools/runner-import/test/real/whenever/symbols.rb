every :midnight do
  rake :empty_folder
end
every '@daily' do
  rake 'daily'
end
every '*/5 9-17 * * Mon-Fri' do
  rake 'office'
end
every '0 0 32 * *' do
  rake 'never'
end
